//! Camera that orbits, pans, zooms, looks around and flies. Changing between these modes never makes it jump.

use crate::scene::{
    Projection,
    bounds::Aabb,
    framing::{self, Viewpoint},
};
use glam::{Mat4, Quat, Vec2, Vec3};
use std::f32::consts::{FRAC_PI_2, PI};

/// View along a world axis, named after the side that the camera is on. Models face +Z, as in glTF.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum StandardView {
    Front,
    Back,
    Right,
    Left,
    Top,
    Bottom,
}

impl StandardView {
    /// Returns the name in messages.
    pub(in crate::app) fn name(self) -> &'static str {
        match self {
            Self::Front => "front",
            Self::Back => "back",
            Self::Right => "right",
            Self::Left => "left",
            Self::Top => "top",
            Self::Bottom => "bottom",
        }
    }

    /// Returns the rotation `world_from_view`.
    fn rotation(self) -> Quat {
        match self {
            Self::Front => Quat::IDENTITY,
            Self::Back => Quat::from_rotation_y(PI),
            Self::Right => Quat::from_rotation_y(FRAC_PI_2),
            Self::Left => Quat::from_rotation_y(-FRAC_PI_2),
            Self::Top => Quat::from_rotation_x(-FRAC_PI_2),
            Self::Bottom => Quat::from_rotation_x(FRAC_PI_2),
        }
    }
}

/// Camera with a pivot straight ahead that it orbits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::app) struct Camera {
    eye: Vec3,
    /// Rotation `world_from_view`.
    rotation: Quat,
    /// Distance to the pivot in metres.
    distance: f32,
    /// Perspective or orthographic projection.
    pub(in crate::app) projection: Projection,
    /// Half the scene's diagonal in metres. Speeds and distance limits are multiples of it.
    extent: f32,
}

impl Camera {
    /// Creates a camera at `view`. The pivot lies straight ahead at the depth of `center`, or at `extent` if
    /// `center` is behind the camera or very close. `extent` is half the scene's diagonal in metres.
    pub(in crate::app) fn new(view: &Viewpoint, center: Vec3, extent: f32) -> Self {
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

    /// Returns the viewpoint for the renderer.
    pub(in crate::app) fn viewpoint(&self) -> Viewpoint {
        Viewpoint {
            world_from_view: Mat4::from_rotation_translation(self.rotation, self.eye),
            projection: self.projection,
        }
    }

    /// Returns the viewpoint for the renderer, and its distance to the pivot in metres. The clip planes must
    /// include the pivot. An orthographic image does not depend on the distance, so such a view is moved back
    /// until `bounds` and the pivot lie in front of it.
    pub(in crate::app) fn outside(&self, bounds: Aabb) -> (Viewpoint, f32) {
        let mut view = self.viewpoint();
        let is_orthographic = matches!(self.projection, Projection::Orthographic { .. });
        if !is_orthographic || bounds.is_empty() {
            return (view, self.distance);
        }
        let forward = self.forward();
        let depth = |corner: Vec3| (corner - self.eye).dot(forward);
        let nearest = bounds.corners().map(depth).into_iter().reduce(f32::min);
        let nearest = nearest.unwrap_or_default().min(self.distance);
        let back = (0.1 * framing::extent(bounds) - nearest).max(0.0);
        if back.is_finite() {
            view.world_from_view.w_axis -= (forward * back).extend(0.0);
        }
        (view, self.distance + back)
    }

    /// Returns half the scene's diagonal in metres.
    pub(in crate::app) fn extent(&self) -> f32 {
        self.extent
    }

    /// Returns the position in world space.
    pub(in crate::app) fn eye(&self) -> Vec3 {
        self.eye
    }

    /// Moves the camera to `eye` together with its pivot.
    pub(in crate::app) fn move_eye(&mut self, eye: Vec3) {
        self.eye = eye;
    }

    /// Returns the rotation about the vertical axis from −Z to the view direction. If the camera looks
    /// straight down, the up direction takes the place of the view direction. If it looks straight up, the
    /// opposite of the up direction does.
    pub(in crate::app) fn heading(&self) -> Quat {
        let forward = self.forward();
        let along = match forward.y {
            y if y > 0.99 => -self.up(),
            y if y < -0.99 => self.up(),
            _ => forward,
        };
        Quat::from_rotation_y((-along.x).atan2(-along.z))
    }

    /// Removes the roll, so that the horizon is level. The view direction stays.
    pub(in crate::app) fn stand(&mut self) {
        let pitch = self.forward().y.clamp(-1.0, 1.0).asin();
        self.rotation = self.heading() * Quat::from_rotation_x(pitch);
    }

    /// Returns a camera with the same pivot at a distance of at most `distance` metres. A smaller distance
    /// than 0.2 % of the scene's extent is raised to that.
    pub(in crate::app) fn nearer(&self, distance: f32) -> Self {
        let distance = distance.max(self.extent * 2e-3).min(self.distance);
        Self {
            eye: self.eye + self.forward() * (self.distance - distance),
            distance,
            ..*self
        }
    }

    /// Returns the distance to the pivot in metres.
    pub(in crate::app) fn distance(&self) -> f32 {
        self.distance
    }

    /// Returns the world-space up direction of the picture.
    pub(in crate::app) fn up(&self) -> Vec3 {
        self.rotation * Vec3::Y
    }

    /// Rotates the camera about its pivot to a standard view. The distance stays.
    pub(in crate::app) fn face(&mut self, view: StandardView) {
        let pivot = self.pivot();
        self.rotation = view.rotation();
        self.eye = pivot - self.forward() * self.distance;
    }

    /// Switches between an orthographic projection and a perspective one with the vertical field of view
    /// `fov` in radians. Objects at the pivot keep their size.
    pub(in crate::app) fn switch_projection(&mut self, fov: f32) {
        match self.projection {
            Projection::Perspective { fov_y } => {
                let half_height = self.distance * (fov_y * 0.5).tan();
                self.projection = Projection::Orthographic { half_height };
            }
            Projection::Orthographic { half_height } => {
                let pivot = self.pivot();
                self.distance = (half_height / (fov * 0.5).tan()).max(self.extent * 2e-3);
                self.eye = pivot - self.forward() * self.distance;
                self.projection = Projection::Perspective { fov_y: fov };
            }
        }
    }

    /// Returns the point straight ahead that the camera orbits.
    pub(in crate::app) fn pivot(&self) -> Vec3 {
        self.eye + self.forward() * self.distance
    }

    /// Returns the unit vector of the view direction.
    pub(in crate::app) fn forward(&self) -> Vec3 {
        self.rotation * Vec3::NEG_Z
    }

    /// Orbits the pivot. `drag` is a fraction of the picture's height.
    pub(in crate::app) fn orbit(&mut self, drag: Vec2) {
        let pivot = self.pivot();
        self.turn(-drag * PI);
        self.eye = pivot - self.forward() * self.distance;
    }

    /// Rotates in place, which moves the pivot. `drag` is a fraction of the picture's height.
    pub(in crate::app) fn look(&mut self, drag: Vec2) {
        self.turn(-drag * self.fov());
    }

    /// Rotates about the vertical, then up or down, by angles in radians.
    fn turn(&mut self, angles: Vec2) {
        let turned = Quat::from_rotation_y(angles.x) * self.rotation;
        // 0 at the horizon, ±π/2 straight up or down. Beyond that the camera is upside down.
        let pitch = self.forward().y.atan2(self.up().y);
        // Past a pole, left and right would swap. A camera that starts there may still return.
        let allowed = (pitch + angles.y).clamp(pitch.min(-FRAC_PI_2), pitch.max(FRAC_PI_2));
        self.rotation = (turned * Quat::from_rotation_x(allowed - pitch)).normalize();
    }

    /// Moves parallel to the image plane so that points at the pivot's depth stay under the pointer. `drag`
    /// is a fraction of the picture's height.
    pub(in crate::app) fn pan(&mut self, drag: Vec2) {
        let height = match self.projection {
            Projection::Perspective { fov_y } => 2.0 * self.distance * (fov_y * 0.5).tan(),
            Projection::Orthographic { half_height } => 2.0 * half_height,
        };
        self.eye += self.rotation * Vec3::new(-drag.x, drag.y, 0.0) * height;
    }

    /// Moves towards the pivot by `steps` of the mouse wheel, or away from it if negative. At the minimum
    /// distance the camera moves on and pushes the pivot ahead. An orthographic camera changes its height.
    pub(in crate::app) fn zoom(&mut self, steps: f32) {
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

    /// Flies along `axes` in view space (right, up, back) for `seconds`. `axes` are clamped to length 1. At
    /// length 1 and `speed` 1 the camera crosses the scene's diagonal in five seconds.
    pub(in crate::app) fn fly(&mut self, axes: Vec3, speed: f32, seconds: f32) {
        let meters_per_second = speed * 2.0 * self.extent / 5.0;
        self.eye += self.rotation * axes.clamp_length_max(1.0) * meters_per_second * seconds;
    }

    /// Sets the vertical field of view in radians. It has no effect on an orthographic camera.
    pub(in crate::app) fn set_fov(&mut self, fov: f32) {
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
        let view = Viewpoint::look_to(Vec3::new(0.0, 1.0, 10.0), Vec3::NEG_Z, Vec3::Y, lens);
        Camera::new(&view, Vec3::Y, 2.0)
    }

    #[test]
    fn orbiting_keeps_the_pivot_and_its_distance() {
        let mut camera = camera();
        for drag in [Vec2::new(0.3, 0.1), Vec2::new(-1.0, 5.0), Vec2::new(0.0, -9.0)] {
            camera.orbit(drag);
            let pivot = camera.eye + camera.forward() * camera.distance;
            assert!(pivot.distance(Vec3::Y) < 1e-4, "{pivot}");
            assert!(camera.up().y >= -1e-4, "it is upside down");
        }
    }

    #[test]
    fn looking_and_flying_keep_the_camera_continuous() {
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
    fn one_zoom_step_never_reaches_the_pivot() {
        let mut camera = camera();
        camera.zoom(200.0);
        assert!(camera.distance > 0.0 && camera.eye.is_finite());
        camera.zoom(-1e4);
        assert!(camera.distance <= 2001.0 && camera.eye.is_finite());
    }

    #[test]
    fn panning_follows_the_pointer() {
        let mut camera = camera();
        let expected = -10.0 * (0.4_f32).tan();
        // Both projections show the same at the pivot.
        for _ in 0..2 {
            let before = camera.eye.x;
            camera.pan(Vec2::new(0.5, 0.0));
            let moved = camera.eye.x - before;
            assert!((moved - expected).abs() < 1e-4, "{moved} {:?}", camera.projection);
            camera.switch_projection(0.8);
        }
    }

    #[test]
    fn walk_mode_keeps_the_view_direction_and_levels_the_horizon() {
        for (view, forward, up) in VIEWS {
            let mut camera = camera();
            camera.face(view);
            let ahead = if forward.y == 0.0 {
                forward
            } else {
                -forward.y * up
            };
            assert!(
                (camera.heading() * Vec3::NEG_Z).distance(ahead) < 1e-5,
                "{view:?}"
            );
            camera.rotation *= Quat::from_rotation_z(0.5);
            camera.stand();
            assert!(camera.forward().distance(forward) < 1e-3, "{view:?}");
            assert!((camera.rotation * Vec3::X).y.abs() < 1e-5, "{view:?}");
        }
    }

    #[test]
    fn moving_nearer_keeps_the_pivot() {
        let camera = camera();
        let near = camera.nearer(3.0);
        assert!(near.pivot().distance(camera.pivot()) < 1e-4 && near.distance == 3.0);
        assert_eq!(camera.nearer(f32::INFINITY), camera);
        assert!(camera.nearer(0.0).distance > 0.0 && camera.nearer(f32::NAN).eye.is_finite());
    }

    const VIEWS: [(StandardView, Vec3, Vec3); 6] = [
        (StandardView::Front, Vec3::NEG_Z, Vec3::Y),
        (StandardView::Back, Vec3::Z, Vec3::Y),
        (StandardView::Right, Vec3::NEG_X, Vec3::Y),
        (StandardView::Left, Vec3::X, Vec3::Y),
        (StandardView::Top, Vec3::NEG_Y, Vec3::NEG_Z),
        (StandardView::Bottom, Vec3::Y, Vec3::Z),
    ];

    #[test]
    fn standard_views_look_along_axes_at_the_same_pivot() {
        for (view, forward, up) in VIEWS {
            let mut camera = camera();
            camera.orbit(Vec2::new(0.3, 0.2));
            camera.face(view);
            assert!(camera.forward().distance(forward) < 1e-6, "{view:?}");
            assert!(camera.up().distance(up) < 1e-6, "{view:?}");
            assert!(camera.pivot().distance(Vec3::Y) < 1e-4, "{view:?}");
            assert!((camera.distance - 10.0).abs() < 1e-4, "{view:?}");
        }
    }

    /// From straight above, dragging sideways rotates the picture. Dragging up or down returns to the horizon
    /// on the near side or has no effect.
    #[test]
    fn orbiting_works_at_the_poles() {
        for (view, drag) in [(StandardView::Top, 1.0), (StandardView::Bottom, -1.0)] {
            let mut camera = camera();
            camera.face(view);
            let straight = camera.forward();
            camera.orbit(Vec2::new(0.1, 0.0));
            assert!(camera.forward().distance(straight) < 1e-5, "{view:?}");
            let up = camera.up();
            assert!(up.distance(view.rotation() * Vec3::Y) > 0.2, "it spins");
            camera.orbit(Vec2::new(0.0, 0.1 * drag));
            assert!(camera.forward().distance(straight) < 1e-5, "past the pole");
            camera.orbit(Vec2::new(0.0, -0.1 * drag));
            assert!(camera.up().y > 0.2, "{view:?} does not come back");
            // The picture's former up direction now points away from the camera.
            let ahead = camera.forward() * Vec3::new(1.0, 0.0, 1.0);
            assert!(ahead.dot(up * drag) > 0.2, "{view:?} turns around");
            assert!(camera.pivot().distance(Vec3::Y) < 1e-4);
        }
    }

    #[test]
    fn switching_the_projection_keeps_the_size_at_the_pivot() {
        let mut camera = camera();
        let before = camera;
        camera.switch_projection(0.8);
        let Projection::Orthographic { half_height } = camera.projection else {
            panic!("it is not orthographic")
        };
        assert!((half_height - 10.0 * 0.4_f32.tan()).abs() < 1e-4);
        camera.switch_projection(0.8);
        assert_eq!(camera.projection, before.projection);
        assert!(camera.eye.distance(before.eye) < 1e-4);
        // Zooming in between changes the size.
        camera.switch_projection(0.8);
        camera.zoom(2.0);
        camera.switch_projection(0.8);
        assert!(camera.distance < 8.0 && camera.pivot().distance(Vec3::Y) < 1e-4);
    }

    /// An orthographic camera clips nothing, even close to the pivot or in the middle of the scene.
    #[test]
    fn an_orthographic_camera_is_moved_outside_the_scene() {
        let bounds = Aabb {
            min: Vec3::new(-50.0, -1.0, -50.0),
            max: Vec3::new(50.0, 3.0, 50.0),
        };
        let mut camera = camera();
        assert_eq!(camera.outside(bounds).0, camera.viewpoint());
        camera.switch_projection(0.8);
        for (view, ..) in VIEWS {
            camera.face(view);
            let (viewpoint, focus) = camera.outside(bounds);
            let (near, far) = viewpoint.clip_planes(bounds, focus, None);
            assert!(near > 0.0);
            let view_from_world = viewpoint.world_from_view.inverse();
            for corner in bounds.corners() {
                let depth = -view_from_world.transform_point3(corner).z;
                assert!((near..far).contains(&depth), "{view:?}: {near} {far} {depth}");
            }
            let pivot = view_from_world.transform_point3(Vec3::Y);
            assert!((-pivot.z - focus).abs() < 1e-2, "{pivot} {focus}");
        }
    }
}
