//! Clips to a [`Pose`]: where every node is at a time, and the weights of every morph target.

use super::Scene;
use glam::Mat4;

/// A scene at one moment.
#[derive(Debug, Clone, Default)]
pub struct Pose {
    /// One per node.
    pub world_from_node: Vec<Mat4>,
    /// Morph weights, one list per node: as many as its mesh has targets.
    pub weights: Vec<Vec<f32>>,
}

impl Pose {
    /// The scene with `clip` at `time_secs` (before the first key its value, after the last the last's), or at rest.
    pub fn new(_scene: &Scene, _clip: Option<usize>, _time_secs: f32) -> Self {
        Self::default()
    }
}
