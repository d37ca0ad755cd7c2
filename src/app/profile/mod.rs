//! Timings, memory and benchmarks.

pub(in crate::app) mod benchmark;
pub(in crate::app) mod benchmark_task;
pub(in crate::app) mod frames;
pub(in crate::app) mod memory;
pub(in crate::app) mod model;
pub(in crate::app) mod task;
pub(in crate::app) mod view;

use crate::profile::history::History;
use model::ProfilerPanel;
use std::collections::VecDeque;

/// Frame times, and the state of the profiler.
#[derive(Debug)]
pub(in crate::app) struct ProfileState {
    /// Milliseconds between frames, latest last.
    pub(in crate::app) frame_ms: VecDeque<f32>,
    /// Timings of the last frames.
    pub(in crate::app) history: History,
    /// View state of the profiler.
    pub(in crate::app) profiler: ProfilerPanel,
}
