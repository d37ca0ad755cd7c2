//! A benchmark that the viewer runs.

use super::camera::Camera;

/// A benchmark that runs, and what it gives back at its end.
#[derive(Debug)]
pub(super) struct Benchmark {
    /// Frames that have been recorded.
    pub(super) done: u32,
    /// Frames in all.
    pub(super) frames: u32,
    /// Frames per second of the clip; `None` for a turn.
    pub(super) fps: Option<f32>,
    /// The camera at its start.
    pub(super) camera: Camera,
    /// The time in the clip at its start, in seconds.
    pub(super) time: f32,
    /// Whether the clip played.
    pub(super) playing: bool,
}
