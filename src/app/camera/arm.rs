//! Spring arm of an orbiting camera: shortens the distance to the pivot so that no surface lies in between.

use crate::app::camera::model::Camera;

/// Spring arm of the camera. It is active only while the user orbits or zooms. A camera that flies or looks
/// around may go anywhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::app) struct Arm {
    holds: bool,
    /// Unobstructed distance from the pivot towards the camera, in metres. Infinite before the first result.
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
    /// Activates the arm because the user orbits or zooms.
    pub(in crate::app) fn hold(&mut self) {
        self.holds = true;
    }

    /// Deactivates the arm because the user moves the camera in another way. `camera` is moved to the
    /// position that the arm has held it at, so that the picture does not jump.
    pub(in crate::app) fn release(&mut self, camera: &mut Camera) {
        *camera = self.held(camera);
        *self = Self::default();
    }

    /// True if the arm is active and needs the unobstructed distance.
    pub(in crate::app) fn holds(&self) -> bool {
        self.holds
    }

    /// Sets the unobstructed distance from the pivot in metres. NaN counts as unobstructed.
    pub(in crate::app) fn reach(&mut self, free: f32) {
        self.free = if free.is_finite() { free } else { f32::INFINITY };
    }

    /// Returns `camera`. If the arm is active and an obstacle is nearer than the camera, it is moved towards
    /// its pivot.
    pub(in crate::app) fn held(&self, camera: &Camera) -> Camera {
        match self.holds {
            true => camera.nearer(self.free),
            false => *camera,
        }
    }
}
