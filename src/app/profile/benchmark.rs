//! Benchmark in the viewer.

use crate::app::camera::model::Camera;

/// A running benchmark, and the state to restore at its end.
#[derive(Debug)]
pub(in crate::app) struct Benchmark {
    /// Number of recorded frames.
    pub(in crate::app) done: u32,
    /// Total number of frames.
    pub(in crate::app) frames: u32,
    /// Frames per second of the clip. `None` for a turntable run.
    pub(in crate::app) fps: Option<f32>,
    /// Camera at the start.
    pub(in crate::app) camera: Camera,
    /// Time in the clip at the start, in seconds.
    pub(in crate::app) time: f32,
    /// True if the clip was playing.
    pub(in crate::app) playing: bool,
}
