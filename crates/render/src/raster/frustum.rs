//! Frustum culling.

use crate::view::View;
use canopy_scene::bounds::Aabb;
use glam::{Mat4, Vec3, Vec4};

/// Relative slack for rounding of boxes and planes.
const SLACK: f32 = 1e-5;

/// Six planes of the view frustum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Frustum {
    eye: Vec3,
    /// Planes relative to the eye: an inward normal, and the distance.
    planes: [Vec4; 6],
}

impl Frustum {
    /// Creates the frustum of `clip_from_offset`, which transforms offsets relative to the eye of `view`.
    pub(crate) fn new(view: &View, clip_from_offset: Mat4) -> Self {
        let [x, y, z, w] = [0, 1, 2, 3].map(|row| clip_from_offset.row(row));
        Self {
            eye: view.eye(),
            planes: [w + x, w - x, w + y, w - y, w - z, z],
        }
    }

    /// True if any part of a box may be in view. A box that is not finite may be.
    pub(crate) fn may_see(&self, seen: Aabb) -> bool {
        if seen.is_empty() {
            return false;
        }
        !self.planes.iter().any(|plane| {
            let normal = plane.truncate();
            // The corner that is farthest inside the plane.
            let corner = Vec3::select(normal.cmpge(Vec3::ZERO), seen.max, seen.min);
            let inside = normal.dot(corner - self.eye) + plane.w;
            let sizes = corner.abs() + self.eye.abs();
            inside < -SLACK * (normal.abs().dot(sizes) + plane.w.abs())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::jittered_from_clip;
    use canopy_scene::Projection;
    use glam::{Quat, Vec2};

    /// Returns evenly spread numbers in [0, 1).
    fn number(i: usize) -> f32 {
        (0.754_877_67 * i as f64).fract() as f32
    }

    /// No box with a visible point is culled, and most boxes outside of the view are.
    #[test]
    fn boxes_in_the_frustum_are_never_culled() {
        let point = |i: usize| Vec3::new(number(3 * i), number(3 * i + 1), number(3 * i + 2)) - 0.5;
        let projections = [
            Projection::Perspective { fov_y: 0.8 },
            Projection::Orthographic { half_height: 3.0 },
        ];
        let (mut seen, mut left_out) = (0, 0);
        for i in 0..2000 {
            let view = View {
                world_from_view: Mat4::from_translation(20.0 * point(7 * i))
                    * Mat4::from_quat(Quat::from_axis_angle(
                        point(7 * i + 1).normalize(),
                        6.0 * number(i),
                    )),
                projection: projections[i % 2],
                near: 0.5,
                far: 30.0,
            };
            let clip_from_offset =
                jittered_from_clip(Vec2::splat(0.4), [16, 9]) * view.clip_from_offset(16.0 / 9.0);
            let (middle, half) = (30.0 * point(7 * i + 2), 4.0 * point(7 * i + 3).abs());
            let bounds = Aabb {
                min: middle - half,
                max: middle + half,
            };
            let shows = (0..200).any(|k| {
                let at = middle + 2.0 * half * point(i + 11 * k);
                let clip = clip_from_offset * (at - view.eye()).extend(1.0);
                let inside = clip.truncate().abs().cmple(Vec3::splat(clip.w)).all();
                inside && clip.z >= 0.0
            });
            let may = Frustum::new(&view, clip_from_offset).may_see(bounds);
            assert!(may || !shows, "{bounds:?} from {view:?}");
            seen += usize::from(shows);
            left_out += usize::from(!may);
        }
        assert!(seen > 80 && left_out > 1000, "{seen} and {left_out}");
        let view = View {
            world_from_view: Mat4::IDENTITY,
            projection: projections[0],
            near: 0.5,
            far: 30.0,
        };
        let frustum = Frustum::new(&view, view.clip_from_offset(1.0));
        assert!(!frustum.may_see(Aabb::EMPTY));
        let all = Aabb {
            min: Vec3::NEG_INFINITY,
            max: Vec3::INFINITY,
        };
        assert!(frustum.may_see(all));
    }
}
