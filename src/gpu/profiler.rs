//! Timings: one scope is a debug group and a pair of GPU timestamps.

use std::collections::HashMap;

/// A scope on an encoder; passes and further scopes are opened in it.
pub type Scope<'a> = wgpu_profiler::Scope<'a, wgpu::CommandEncoder>;

/// The time of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTiming {
    /// The pass's name, that of its shader and source file.
    pub name: String,
    /// How deep it is nested.
    pub depth: usize,
    /// The last measured time on the GPU.
    pub last_ms: f64,
    /// An exponential average over about 30 frames.
    pub average_ms: f64,
}
