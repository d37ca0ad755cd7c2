//! The camera of a frame: where the picture is taken from.

use super::layout::ViewRays;
use canopy_scene::{
    Projection,
    bounds::Aabb,
    framing::{Ground, Viewpoint},
};
use glam::{Mat4, Vec2, Vec3, Vec4};

/// Where the picture is taken from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The camera, looking along its −Z.
    pub world_from_view: Mat4,
    /// Its projection.
    pub projection: Projection,
    /// Distance of the near plane in metres.
    pub near: f32,
    /// Distance of the far plane in metres.
    pub far: f32,
}

impl View {
    /// The view from `viewpoint` of a scene within `bounds`, with the planes of [`Viewpoint::clip_planes`].
    pub fn new(viewpoint: &Viewpoint, bounds: Aabb, focus: f32, ground: Option<&Ground>) -> Self {
        let (near, far) = viewpoint.clip_planes(bounds, focus, ground);
        Self {
            world_from_view: viewpoint.world_from_view,
            projection: viewpoint.projection,
            near,
            far,
        }
    }

    /// The eye.
    pub fn eye(&self) -> Vec3 {
        self.world_from_view.w_axis.truncate()
    }

    /// The same view from elsewhere.
    pub fn moved(mut self, by: Vec3) -> Self {
        self.world_from_view.w_axis += by.extend(0.0);
        self
    }

    /// Unit vector along the view.
    pub fn forward(&self) -> Vec3 {
        (-self.world_from_view.z_axis.truncate())
            .try_normalize()
            .unwrap_or(Vec3::NEG_Z)
    }

    /// From offsets to the eye, in world axes, to clip space with reversed depth: 1 at the near plane, 0 at
    /// the far one.
    pub fn clip_from_offset(&self, aspect: f32) -> Mat4 {
        let (_, rotation, _) = self.world_from_view.to_scale_rotation_translation();
        let clip_from_view = match self.projection {
            Projection::Perspective { fov_y } => {
                glam::camera::rh::proj::directx::perspective(fov_y, aspect, self.far, self.near)
            }
            Projection::Orthographic { half_height } => {
                let half_width = half_height * aspect;
                glam::camera::rh::proj::directx::orthographic(
                    -half_width,
                    half_width,
                    -half_height,
                    half_height,
                    self.far,
                    self.near,
                )
            }
        };
        clip_from_view * Mat4::from_quat(rotation.inverse())
    }

    /// From the middle of the picture to its right and its upper edge, at a metre's distance; zero in a
    /// parallel projection.
    pub fn half_extents(&self, aspect: f32) -> [Vec3; 2] {
        let tangent = match self.projection {
            Projection::Perspective { fov_y } => (0.5 * fov_y).tan(),
            Projection::Orthographic { .. } => 0.0,
        };
        let (_, rotation, _) = self.world_from_view.to_scale_rotation_translation();
        [
            rotation * Vec3::X * tangent * aspect,
            rotation * Vec3::Y * tangent,
        ]
    }

    /// From the middle of the picture to its right and its upper edge, at the eye: zero in a perspective.
    pub fn eye_extents(&self, aspect: f32) -> [Vec3; 2] {
        let half_height = match self.projection {
            Projection::Perspective { .. } => 0.0,
            Projection::Orthographic { half_height } => half_height,
        };
        let (_, rotation, _) = self.world_from_view.to_scale_rotation_translation();
        [
            rotation * Vec3::X * half_height * aspect,
            rotation * Vec3::Y * half_height,
        ]
    }

    /// Origin and direction of the ray through a point of a picture of `size` pixels; the middle of the first
    /// pixel is at ½. The direction is as long as what a metre along the view is along the ray, so that
    /// distances are depths.
    pub fn ray(&self, pixel: Vec2, size: [u32; 2]) -> [Vec3; 2] {
        let size = Vec2::new(size[0].max(1) as f32, size[1].max(1) as f32);
        let ndc = (pixel / size * 2.0 - 1.0) * Vec2::new(1.0, -1.0);
        let aspect = size.x / size.y;
        let (_, rotation, _) = self.world_from_view.to_scale_rotation_translation();
        let forward = rotation * Vec3::NEG_Z;
        match self.projection {
            Projection::Perspective { .. } => {
                let [right, up] = self.half_extents(aspect);
                [self.eye(), forward + ndc.x * right + ndc.y * up]
            }
            Projection::Orthographic { half_height } => {
                let offset = Vec3::new(ndc.x * aspect, ndc.y, 0.0) * half_height;
                [self.eye() + rotation * offset, forward]
            }
        }
    }

    /// The rays through a picture of that `size`, which looks at `jitter` in its pixels, from their middles, y down.
    pub fn rays(&self, jitter: Vec2, size: [u32; 2]) -> ViewRays {
        let [origin_right, origin_up] = self.eye_extents(aspect(size));
        let [direction_right, direction_up] = self.half_extents(aspect(size));
        // Moves the point that a pixel looks at to its centre.
        let shift = jittered_from_clip(jitter, size).w_axis;
        let origin = self.eye() - shift.x * origin_right - shift.y * origin_up;
        let direction = self.forward() - shift.x * direction_right - shift.y * direction_up;
        ViewRays {
            origin: origin.to_array(),
            direction: direction.to_array(),
            origin_right: origin_right.to_array(),
            origin_up: origin_up.to_array(),
            direction_right: direction_right.to_array(),
            direction_up: direction_up.to_array(),
            ..ViewRays::default()
        }
    }

    /// Side of a pixel in metres at the eye, and what a metre of depth adds to it, in a picture of `rows`.
    pub fn pixel_side(&self, rows: u32) -> [f32; 2] {
        let rows = rows.max(1) as f32;
        match self.projection {
            Projection::Perspective { fov_y } => [0.0, 2.0 * (0.5 * fov_y).tan() / rows],
            Projection::Orthographic { half_height } => [2.0 * half_height / rows, 0.0],
        }
    }

    /// The eight corners of what is seen, in the world, near ones first.
    pub fn corners(&self, aspect: f32) -> [Vec3; 8] {
        let offset_from_clip = self.clip_from_offset(aspect).inverse();
        std::array::from_fn(|i| {
            let sign = |bit: usize| if i & bit == 0 { -1.0 } else { 1.0 };
            let corner =
                offset_from_clip * Vec4::new(sign(1), sign(2), if i & 4 == 0 { 1.0 } else { 0.0 }, 1.0);
            self.eye() + corner.truncate() / corner.w
        })
    }
}

/// Width over height.
pub(super) fn aspect(size: [u32; 2]) -> f32 {
    size[0].max(1) as f32 / size[1].max(1) as f32
}

/// From clip space to that of a picture that looks at `jitter` in its pixels, from their middles, y down.
pub(super) fn jittered_from_clip(jitter: Vec2, size: [u32; 2]) -> Mat4 {
    let [width, height] = size.map(|side| 2.0 / side.max(1) as f32);
    let shift = jitter * Vec2::new(-width, height);
    Mat4::from_translation(shift.extend(0.0))
}

/// A question to the trees: what is seen through a point of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PickQuery {
    /// The camera.
    pub view: View,
    /// The point, in pixels from the picture's upper left corner; the middle of the first pixel is at ½.
    pub pixel: Vec2,
    /// Pixels in a row of the picture, and rows.
    pub size: [u32; 2],
}

impl PickQuery {
    /// The pixel of a G-buffer of this size that shows the point.
    pub(super) fn pixel_of(&self, gbuffer: [u32; 2]) -> [u32; 2] {
        [0, 1].map(|axis| {
            let share = self.pixel[axis] / self.size[axis].max(1) as f32;
            ((share * gbuffer[axis] as f32) as u32).min(gbuffer[axis].saturating_sub(1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Quat;

    /// A point along a ray is seen where the frame looks in the pixel, at that depth.
    #[test]
    fn rays_go_through_what_a_frame_looks_at() {
        let size = [40, 30];
        let projections = [
            Projection::Perspective { fov_y: 0.7 },
            Projection::Orthographic { half_height: 3.0 },
        ];
        for projection in projections {
            let view = View {
                world_from_view: Mat4::from_rotation_translation(
                    Quat::from_rotation_y(0.6) * Quat::from_rotation_x(-0.3),
                    Vec3::new(3.0, 2.0, 5.0),
                ),
                projection,
                near: 0.1,
                far: 100.0,
            };
            for jitter in [Vec2::ZERO, Vec2::new(0.3, -0.4)] {
                let rays = view.rays(jitter, size);
                let clip = jittered_from_clip(jitter, size) * view.clip_from_offset(aspect(size));
                for ndc in [Vec2::ZERO, Vec2::new(-0.9, 0.6), Vec2::new(0.4, -1.0)] {
                    let along = |middle: [f32; 3], right: [f32; 3], up: [f32; 3]| {
                        Vec3::from(middle) + ndc.x * Vec3::from(right) + ndc.y * Vec3::from(up)
                    };
                    let origin = along(rays.origin, rays.origin_right, rays.origin_up);
                    let direction = along(rays.direction, rays.direction_right, rays.direction_up);
                    let point = origin + 7.0 * direction;
                    assert!(((point - view.eye()).dot(view.forward()) - 7.0).abs() < 1e-5);
                    let seen = clip * (point - view.eye()).extend(1.0);
                    let seen = seen.truncate().truncate() / seen.w;
                    assert!(seen.distance(ndc) < 1e-5, "{projection:?}: {seen} for {ndc}");
                }
            }
        }
    }
}
