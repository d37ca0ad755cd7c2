//! What a camera that orbits is held up by: how far from its pivot it may be before a surface is in between.

use crate::app::camera::model::Camera;

/// The arm of the camera. It holds only while the person orbits or zooms: who flies or looks around goes
/// anywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::app) struct Arm {
    holds: bool,
    /// Distance from the pivot in metres that is free.
    free: f32,
}

impl Default for Arm {
    fn default() -> Self {
        Self {
            holds: false,
            free: f32::INFINITY,
        }
    }
}

impl Arm {
    /// The person orbits or zooms.
    pub(in crate::app) fn hold(&mut self) {
        self.holds = true;
    }

    /// The person moves the camera otherwise, from where it is seen.
    pub(in crate::app) fn release(&mut self, camera: &mut Camera) {
        *camera = self.held(camera);
        *self = Self::default();
    }

    /// Whether it has to be known how far it reaches.
    pub(in crate::app) fn holds(&self) -> bool {
        self.holds
    }

    /// So far from the pivot nothing is in the way.
    pub(in crate::app) fn reach(&mut self, free: f32) {
        self.free = if free.is_finite() { free } else { f32::INFINITY };
    }

    /// The camera as it is held.
    pub(in crate::app) fn held(&self, camera: &Camera) -> Camera {
        match self.holds {
            true => camera.nearer(self.free),
            false => *camera,
        }
    }
}
