//! A camera that orbits, pans, zooms, looks around and flies without jumping.

use crate::scene::{Projection, framing::Viewpoint};
use glam::{Mat4, Quat, Vec2, Vec3};

/// Steepest view direction: the sine of its angle to the horizon.
const STEEPEST: f32 = 0.998;

/// A position, a rotation, and a pivot straight ahead that it orbits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Camera {
    eye: Vec3,
    /// `world_from_view`.
    rotation: Quat,
    /// Distance to the pivot in metres.
    distance: f32,
    /// Projection of the picture.
    pub(super) projection: Projection,
    /// Half the scene's diagonal in metres: the unit of speeds and limits.
    extent: f32,
}

impl Camera {
    /// A camera at `view`, with the pivot as far away as `center` is along the view direction.
    pub(super) fn new(view: &Viewpoint, center: Vec3, extent: f32) -> Self {
        let along = (center - view.eye()).dot(view.forward());
        Self {
            eye: view.eye(),
            rotation: Quat::from_mat4(&view.world_from_view).normalize(),
            // A camera that looks away from the scene still needs a pivot.
            distance: if along > extent * 1e-2 { along } else { extent },
            projection: view.projection,
            extent,
        }
    }

    /// The camera for the renderer.
    pub(super) fn viewpoint(&self) -> Viewpoint {
        Viewpoint {
            world_from_view: Mat4::from_rotation_translation(self.rotation, self.eye),
            projection: self.projection,
        }
    }

    /// Distance to the pivot in metres; the pivot must not be clipped.
    pub(super) fn distance(&self) -> f32 {
        self.distance
    }

    /// Unit vector of the view direction.
    pub(super) fn forward(&self) -> Vec3 {
        self.rotation * Vec3::NEG_Z
    }

    /// Turns around the pivot; `drag` is in shares of the picture's height.
    pub(super) fn orbit(&mut self, drag: Vec2) {
        let pivot = self.eye + self.forward() * self.distance;
        self.turn(-drag * std::f32::consts::PI);
        self.eye = pivot - self.forward() * self.distance;
    }

    /// Turns in place, which moves the pivot; `drag` is in shares of the picture's height.
    pub(super) fn look(&mut self, drag: Vec2) {
        self.turn(-drag * self.fov());
    }

    fn turn(&mut self, angles: Vec2) {
        let turned = Quat::from_rotation_y(angles.x) * self.rotation;
        let tilted = turned * Quat::from_rotation_x(angles.y);
        // Past a pole left and right would swap. A camera that starts steeper may still come back.
        let height = |rotation: Quat| (rotation * Vec3::NEG_Z).y.abs();
        let allowed = height(tilted) <= STEEPEST || height(tilted) <= height(turned);
        self.rotation = if allowed { tilted } else { turned }.normalize();
    }

    /// Moves in the picture's plane so that what lies at the pivot's depth stays under the pointer.
    pub(super) fn pan(&mut self, drag: Vec2) {
        let height = match self.projection {
            Projection::Perspective { fov_y } => 2.0 * self.distance * (fov_y * 0.5).tan(),
            Projection::Orthographic { half_height } => 2.0 * half_height,
        };
        self.eye += self.rotation * Vec3::new(-drag.x, drag.y, 0.0) * height;
    }

    /// Moves towards the pivot by `steps` of a mouse wheel, or away from it. A pivot that is close moves
    /// along.
    pub(super) fn zoom(&mut self, steps: f32) {
        let factor = (-0.16 * steps).exp();
        if let Projection::Orthographic { half_height } = &mut self.projection {
            *half_height = (*half_height * factor).clamp(self.extent * 1e-5, self.extent * 1e3);
            return;
        }
        let wanted = self.distance * factor;
        let step = self.distance - wanted.min(self.extent * 1e3);
        self.eye += self.forward() * step;
        self.distance = (self.distance - step).max(self.extent * 2e-3);
    }

    /// Flies along its own axes (right, up, back), each from −1 to 1, at `speed` scene sizes per five
    /// seconds.
    pub(super) fn fly(&mut self, axes: Vec3, speed: f32, seconds: f32) {
        let meters_per_second = speed * 2.0 * self.extent / 5.0;
        self.eye += self.rotation * axes.clamp_length_max(1.0) * meters_per_second * seconds;
    }

    /// Sets the vertical field of view in radians; an orthographic camera has none.
    pub(super) fn set_fov(&mut self, fov: f32) {
        if let Projection::Perspective { fov_y } = &mut self.projection {
            *fov_y = fov;
        }
    }

    fn fov(&self) -> f32 {
        match self.projection {
            Projection::Perspective { fov_y } => fov_y,
            Projection::Orthographic { .. } => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera() -> Camera {
        let lens = Projection::Perspective { fov_y: 0.8 };
        let view = Viewpoint::looking(Vec3::new(0.0, 1.0, 10.0), Vec3::NEG_Z, Vec3::Y, lens);
        Camera::new(&view, Vec3::Y, 2.0)
    }

    #[test]
    fn orbiting_keeps_the_pivot_and_its_distance() {
        let mut camera = camera();
        for drag in [
            Vec2::new(0.3, 0.1),
            Vec2::new(-1.0, 5.0),
            Vec2::new(0.0, -9.0),
        ] {
            camera.orbit(drag);
            let pivot = camera.eye + camera.forward() * camera.distance;
            assert!(pivot.distance(Vec3::Y) < 1e-4, "{pivot}");
            assert!(camera.forward().y.abs() <= STEEPEST + 1e-4);
        }
    }

    #[test]
    fn looking_and_flying_do_not_jump() {
        let mut camera = camera();
        let eye = camera.eye;
        camera.look(Vec2::new(0.2, 0.1));
        assert_eq!(camera.eye, eye);
        let forward = camera.forward();
        camera.orbit(Vec2::ZERO);
        assert!(camera.eye.distance(eye) < 1e-4 && camera.forward().distance(forward) < 1e-5);
        camera.fly(Vec3::NEG_Z, 1.0, 5.0);
        assert!((camera.eye.distance(eye) - 4.0).abs() < 1e-3);
    }

    #[test]
    fn zoom_never_reaches_or_passes_the_pivot_at_once() {
        let mut camera = camera();
        camera.zoom(200.0);
        assert!(camera.distance > 0.0 && camera.eye.is_finite());
        camera.zoom(-1e4);
        assert!(camera.distance <= 2001.0 && camera.eye.is_finite());
    }

    #[test]
    fn panning_follows_the_pointer() {
        let mut camera = camera();
        camera.pan(Vec2::new(0.5, 0.0));
        let expected = -10.0 * (0.4_f32).tan();
        assert!((camera.eye.x - expected).abs() < 1e-4, "{}", camera.eye);
    }
}
