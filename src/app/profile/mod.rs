//! Timings, memory and benchmarks.

pub(in crate::app) mod benchmark;
pub(in crate::app) mod benchmark_task;
pub(in crate::app) mod frames;
pub(in crate::app) mod memory;
pub(in crate::app) mod model;
pub(in crate::app) mod task;
pub(in crate::app) mod view;
