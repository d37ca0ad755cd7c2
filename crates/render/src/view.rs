//! Camera of a frame.

use super::layout::ViewRays;
use canopy_scene::{
    Projection,
    bounds::Aabb,
    framing::{Ground, Viewpoint},
};
use glam::{Mat4, Vec2, Vec3, Vec4};

/// Camera: pose, projection and clip planes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Camera-to-world transform. The camera looks along −Z.
    pub world_from_view: Mat4,
    /// Projection.
    pub projection: Projection,
    /// Distance of the near plane in metres.
    pub near: f32,
    /// Distance of the far plane in metres.
    pub far: f32,
}

impl View {
    /// Creates the view from `viewpoint` of a scene within `bounds`, with the planes of
    /// [`Viewpoint::clip_planes`].
    pub fn new(viewpoint: &Viewpoint, bounds: Aabb, focus: f32, ground: Option<&Ground>) -> Self {
        let (near, far) = viewpoint.clip_planes(bounds, focus, ground);
        Self {
            world_from_view: viewpoint.world_from_view,
            projection: viewpoint.projection,
            near,
            far,
        }
    }

    /// Returns the position of the eye.
    pub fn eye(&self) -> Vec3 {
        self.world_from_view.w_axis.truncate()
    }

    /// Returns the view translated by the world-space offset `by`.
    pub fn translated(mut self, by: Vec3) -> Self {
        self.world_from_view.w_axis += by.extend(0.0);
        self
    }

    /// Returns the unit vector along the view direction, or −Z if the transform is degenerate.
    pub fn forward(&self) -> Vec3 {
        (-self.world_from_view.z_axis.truncate())
            .try_normalize()
            .unwrap_or(Vec3::NEG_Z)
    }

    /// Returns the matrix to clip space from world-space offsets relative to the eye. Depth is reversed: 1 at
    /// the near plane, 0 at the far plane.
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

    /// Returns the vectors from the picture centre to its right and its upper edge at a depth of one metre.
    /// They are zero in a parallel projection.
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

    /// Returns the vectors from the picture centre to its right and its upper edge at the eye. They are zero
    /// in a perspective projection.
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

    /// Returns origin and direction of the ray through a point of a picture of `size` pixels. The centre of
    /// the first pixel is at ½. The direction advances the depth by one metre, so that distances along the
    /// ray are depths.
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

    /// Returns the camera rays of a picture of `size` pixels, whose sample positions are offset by `jitter`
    /// from the pixel centres, y down.
    pub fn rays(&self, jitter: Vec2, size: [u32; 2]) -> ViewRays {
        let [origin_right, origin_up] = self.eye_extents(aspect(size));
        let [direction_right, direction_up] = self.half_extents(aspect(size));
        // Moves the sample position of a pixel to its centre.
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

    /// Returns the side of a pixel in metres at the eye, and its growth per metre of depth, in a picture of
    /// `rows` rows.
    pub fn pixel_side(&self, rows: u32) -> [f32; 2] {
        let rows = rows.max(1) as f32;
        match self.projection {
            Projection::Perspective { fov_y } => [0.0, 2.0 * (0.5 * fov_y).tan() / rows],
            Projection::Orthographic { half_height } => [2.0 * half_height / rows, 0.0],
        }
    }

    /// Returns the eight corners of the view frustum in world space, near ones first.
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

/// Returns the aspect ratio, width over height.
pub(super) fn aspect(size: [u32; 2]) -> f32 {
    size[0].max(1) as f32 / size[1].max(1) as f32
}

/// Returns the matrix from clip space to jittered clip space. `jitter` is the offset of the sample positions
/// from the pixel centres, y down.
pub(super) fn jittered_from_clip(jitter: Vec2, size: [u32; 2]) -> Mat4 {
    let [width, height] = size.map(|side| 2.0 / side.max(1) as f32);
    let shift = jitter * Vec2::new(-width, height);
    Mat4::from_translation(shift.extend(0.0))
}

/// Picking query: the object at a point of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PickQuery {
    /// Camera.
    pub view: View,
    /// Point in pixels from the picture's top-left corner. The centre of the first pixel is at ½.
    pub pixel: Vec2,
    /// Width and height of the picture in pixels.
    pub size: [u32; 2],
}

impl PickQuery {
    /// Returns the pixel of a G-buffer of this size that contains the point.
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

    /// A point along a ray projects to the ray's sample position, at that depth.
    #[test]
    fn points_along_a_ray_project_to_its_pixel() {
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
