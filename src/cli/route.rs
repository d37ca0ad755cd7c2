//! Camera motion in a sequence.

use crate::scene::{
    camera_path::{CameraPath, turned},
    framing::Viewpoint,
};
use glam::Vec3;
use std::f32::consts::TAU;

/// Camera motion.
#[derive(Debug)]
pub(super) enum Route {
    /// The first view, or the animated camera of the scene file.
    Scene,
    /// Interpolation of the keys of a file.
    Keys(CameraPath),
    /// Orbit around a point, starting at the first view.
    Turn {
        first: Viewpoint,
        center: Vec3,
        /// Duration of an orbit in seconds. It is negative for clockwise motion, seen from above.
        seconds: f32,
    },
}

impl Route {
    /// Returns the camera `seconds` after the first frame, or `None` for the scene's own camera.
    pub(super) fn view(&self, seconds: f32) -> Option<Viewpoint> {
        match self {
            Self::Scene => None,
            Self::Keys(path) => Some(path.at(seconds)),
            Self::Turn {
                first,
                center,
                seconds: whole,
            } => Some(turned(first, *center, TAU * seconds / whole)),
        }
    }
}
