//! Size of a scene, and the origin of its coordinates.

use crate::bounds::Aabb;
use glam::Vec3;

/// Returns half the diagonal in metres, which is never zero. For a point it is the resolution of its
/// coordinates.
pub fn extent(bounds: Aabb) -> f32 {
    let bounds = or_unit_cube(bounds);
    let radius = bounds.radius().max(bounds.center().length() * 1e-5);
    radius.clamp(1e-9, f32::MAX.sqrt())
}

/// Bounds that replace the bounds of an empty scene.
pub(super) const NOTHING: Aabb = Aabb {
    min: Vec3::splat(-0.5),
    max: Vec3::splat(0.5),
};

/// Returns `bounds`, or a cube of 1 m if they are empty.
pub fn or_unit_cube(bounds: Aabb) -> Aabb {
    if bounds.is_empty() { NOTHING } else { bounds }
}

/// Returns the origin for the coordinates of a scene with these bounds. It is the world origin, which keeps
/// the coordinates of the files, unless the scene is small and far from it. Then f32 would lose its detail,
/// and the origin is the scene's centre.
pub fn origin(bounds: Aabb) -> Vec3 {
    let center = bounds.center();
    let is_far = center.is_finite() && center.abs().max_element() > 64.0 * bounds.radius();
    if is_far { center } else { Vec3::ZERO }
}

/// Returns the distance in metres from `point` to the box, or 0 inside the box.
pub fn distance(bounds: Aabb, point: Vec3) -> f32 {
    point.max(bounds.min).min(bounds.max).distance(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_has_an_extent() {
        for point in [Vec3::ZERO, Vec3::splat(3.0), Vec3::splat(1e30)] {
            let bounds = Aabb::from_points([point]);
            assert!(extent(bounds) > 0.0 && extent(bounds).is_finite());
        }
    }
}
