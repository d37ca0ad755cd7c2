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

/// Times of frames.
#[derive(Debug)]
pub(in crate::app) struct ProfileState {
    /// Milliseconds from one frame to the next, the latest last.
    pub(in crate::app) frame_ms: VecDeque<f32>,
    /// What the last frames took.
    pub(in crate::app) history: History,
    /// What the profiler shows of them.
    pub(in crate::app) profiler: ProfilerPanel,
}
