//! Where the camera of a sequence goes.

use crate::scene::{
    camera_path::{CameraPath, turned},
    framing::Viewpoint,
};
use glam::Vec3;
use std::f32::consts::TAU;

/// Where the camera goes.
#[derive(Debug)]
pub(super) enum Route {
    /// It stays in the first view, or where the file's camera is.
    Scene,
    /// Along a file's keys.
    Keys(CameraPath),
    /// Around a point, from the first view.
    Turn {
        first: Viewpoint,
        center: Vec3,
        /// Seconds of a whole turn; negative for clockwise, from above.
        seconds: f32,
    },
}

impl Route {
    /// The camera so many seconds after the first frame; `None` for the scene's own.
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
