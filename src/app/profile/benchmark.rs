//! A benchmark that the viewer runs.

use crate::app::camera::model::Camera;

/// A benchmark that runs, and what it gives back at its end.
#[derive(Debug)]
pub(in crate::app) struct Benchmark {
    /// Frames that have been recorded.
    pub(in crate::app) done: u32,
    /// Frames in all.
    pub(in crate::app) frames: u32,
    /// Frames per second of the clip; `None` for a turn.
    pub(in crate::app) fps: Option<f32>,
    /// The camera at its start.
    pub(in crate::app) camera: Camera,
    /// The time in the clip at its start, in seconds.
    pub(in crate::app) time: f32,
    /// Whether the clip played.
    pub(in crate::app) playing: bool,
}
