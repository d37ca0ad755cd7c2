//! CPU reference of `shadow/shadow_start.wgsl`, and of its use in `shadow/shadow_ray.wgsl`, in f64.

use super::{lbvh::Triangle, trace::intersect};
use canopy_render::layout::GRAZING_MAX;

use glam::{DVec3, Vec3};

/// Visible point of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VisiblePoint {
    /// World position.
    pub position: Vec3,
    /// Shading normal.
    pub normal: Vec3,
    /// Corners of the triangle.
    pub triangle: Triangle,
    /// Normals at the corners.
    pub corner_normals: [Vec3; 3],
    /// Unit vector to the eye.
    pub to_eye: Vec3,
}

/// Origins of shadow rays from a visible point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShadowStart {
    /// Point on the surface.
    pub position: DVec3,
    /// Origin of rays, offset from the surface.
    pub origin: DVec3,
    /// Geometric normal of the triangle, towards the eye.
    pub geometric_normal: DVec3,
    /// Interpolated normal, towards the eye.
    pub smooth_normal: DVec3,
    /// Normal of the horizon plane, above which rays start.
    pub horizon_normal: DVec3,
    /// Offset from the origin to the smooth surface (Hanika 2021, "Hacking the Shadow Terminator", Ray
    /// Tracing Gems II, chapter 4). Zero if the smooth surface is not above the triangle.
    pub lift: DVec3,
    /// Cosine to the geometric normal below which rays start on the smooth surface. `None` if no ray does.
    pub grazing: Option<f64>,
}

impl VisiblePoint {
    /// Computes the origins of shadow rays.
    pub fn start(&self) -> ShadowStart {
        let [v0, v1, v2] = self.triangle.map(Vec3::as_dvec3);
        let to_eye = self.to_eye.as_dvec3();
        let winding = (v1 - v0).cross(v2 - v0).normalize();
        let side = winding.dot(to_eye).signum();
        let normal = side * winding;
        let position = self.position.as_dvec3();
        let position = position - (position - v0).dot(normal) * normal;
        let corners = self.triangle.iter().map(|corner| corner.abs());
        let size = corners.fold(self.position.abs(), Vec3::max).max_element();
        let step = f64::from(size) * 9.536_743_2e-7;

        let normals = self.corner_normals.map(|n| side * n.as_dvec3());
        let [a, b, c] = [v0, v1, v2].map(|corner| corner - position);
        let signed_areas = [b.cross(c), c.cross(a), a.cross(b)].map(|area| area.dot(winding));
        let areas = signed_areas.map(|area| area.max(0.0));
        let area: f64 = areas.iter().sum();
        let weights = areas.map(|part| part / area);
        let middle = (a + b + c) / 3.0;
        let outside = signed_areas.iter().any(|area| *area < 0.0).then(|| {
            let to_edge = weights[0] * a + weights[1] * b + weights[2] * c;
            let longest = [(a, b), (b, c), (c, a)].map(|(p, q)| p.distance(q));
            let longest = longest.into_iter().fold(0.0, f64::max);
            let twice_area = (v1 - v0).cross(v2 - v0).abs().max_element();
            let share = (12.0 * step * longest / twice_area).min(1.0);
            to_edge + share * (middle - to_edge)
        });
        let start = position + outside.unwrap_or_default();
        let mean: DVec3 = (0..3).map(|i| weights[i] * normals[i]).sum();
        let smooth_normal = mean.try_normalize().unwrap_or(to_eye);
        let along = smooth_normal.reject_from(normal).normalize_or_zero();
        // Measures the convexity and the tilt of the normals.
        let (mut lift, mut convexity, mut leaning) = (DVec3::ZERO, 0.0, 0.0);
        for (i, corner) in [a, b, c].into_iter().enumerate() {
            let lean = normals[i].dot(along);
            let spread = (corner - middle).dot(along);
            convexity += spread * lean;
            leaning += (spread * lean).abs();
            if normals[i].dot(normal) > 0.0 {
                let plane = corner.dot(normals[i]);
                lift += weights[i] * plane.max(corner.dot(along) * lean).max(0.0) * normals[i];
            }
        }
        let lifted = lift.dot(normal) > step && mean.dot(normal) > 0.0 && convexity > 1e-3 * leaning;
        let cosine = normals.map(|n| n.dot(normal)).into_iter().fold(1.0, f64::min);
        let bend = (1.0 - cosine * cosine).max(0.0).sqrt();
        ShadowStart {
            position: start,
            origin: start + step * normal,
            geometric_normal: normal,
            smooth_normal,
            horizon_normal: if lifted { smooth_normal } else { normal },
            lift: if lifted { lift } else { DVec3::ZERO },
            grazing: lifted.then_some(bend.min(GRAZING_MAX)),
        }
    }
}

impl ShadowStart {
    /// True if one of `triangles` blocks a ray of `distance` metres in a direction above the horizon.
    pub fn is_blocked(&self, triangles: &[Triangle], direction: DVec3, distance: f64) -> bool {
        self.blocker(triangles, direction, distance).is_some()
    }

    /// Returns the distance in metres to the nearest of `triangles` that blocks such a ray.
    pub fn blocker(&self, triangles: &[Triangle], direction: DVec3, distance: f64) -> Option<f64> {
        let nearest = |origin: DVec3, direction: DVec3, distance: f64| {
            let (origin, direction) = (origin.as_vec3(), direction.as_vec3());
            let hit = |triangle| intersect(origin, direction, triangle);
            let between = |t: &f64| *t > 0.0 && *t < distance;
            let hits = triangles.iter().filter_map(hit).filter(between);
            hits.min_by(f64::total_cmp)
        };
        let cosine = self.geometric_normal.dot(direction);
        let own = || nearest(self.origin, direction, distance);
        let Some(grazing) = self.grazing.filter(|&grazing| cosine < grazing) else {
            return own();
        };
        let lift = self.lift * (1.0 - cosine / grazing.max(1e-6)).clamp(0.0, 1.0);
        if let Some(t) = nearest(self.origin, lift, 1.0) {
            return match cosine <= 0.0 {
                true => Some(t * lift.length()),
                false => own(),
            };
        }
        let lifted = direction - lift / distance;
        nearest(self.origin + lift, lifted, distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    /// Returns a triangle with corners on a sphere around the origin, with the sphere's normals.
    fn on_sphere(corners: [Vec3; 3], position: Vec3, to_eye: Vec3) -> VisiblePoint {
        let triangle = corners.map(Vec3::normalize);
        VisiblePoint {
            position,
            normal: position.normalize(),
            triangle,
            corner_normals: triangle,
            to_eye,
        }
    }

    const CORNERS: [Vec3; 3] = [
        Vec3::new(0.3, 0.1, 1.0),
        Vec3::new(-0.1, 0.4, 1.0),
        Vec3::new(-0.2, -0.3, 1.0),
    ];

    fn between([a, b, c]: Triangle, [u, v]: [f32; 2]) -> Vec3 {
        a + u * (b - a) + v * (c - a)
    }

    const PLACES: [[f32; 2]; 5] = [[0.3, 0.3], [0.6, 0.3], [0.05, 0.9], [0.0, 0.5], [0.02, 0.01]];

    #[test]
    fn rays_along_tangents_of_a_sphere_start_outside_it() {
        for place in PLACES {
            let triangle = CORNERS.map(Vec3::normalize);
            let position = between(triangle, place);
            let start = on_sphere(CORNERS, position, Vec3::Z).start();
            let lifted = start.origin + start.lift;
            // Less than 1.2 times the height of the sphere above the triangle.
            let height = 1.0 - f64::from(position.length());
            let over = lifted.length() - 1.0;
            assert!(over > 0.0 && over < 1.2 * height, "{over} {height}");
            assert!(start.smooth_normal.distance(position.normalize().as_dvec3()) < 1e-6);
            assert_eq!(start.horizon_normal, start.smooth_normal);
            for i in 0..32 {
                let turn = DQuat::from_axis_angle(start.smooth_normal, 0.2 * f64::from(i));
                let tangent = turn * start.smooth_normal.any_orthonormal_vector();
                let nearest = lifted - lifted.dot(tangent).min(0.0) * tangent;
                assert!(nearest.length() > 1.0, "{place:?} {i}");
                assert!(!start.is_blocked(&[triangle], tangent, 1e30));
            }
        }
    }

    /// On the inside of a sphere, where the surface is concave, rays start from the triangle.
    #[test]
    fn shadow_rays_of_concave_and_flat_surfaces_start_on_the_triangle() {
        let triangle = CORNERS.map(Vec3::normalize);
        let [a, b, c] = triangle;
        let flat = (b - a).cross(c - a).normalize();
        for place in PLACES {
            let position = between(triangle, place);
            let outside = on_sphere(CORNERS, position, Vec3::Z);
            let own = |seen: VisiblePoint| {
                let start = seen.start();
                assert_eq!(start.lift, DVec3::ZERO, "{seen:?}");
                assert_eq!(start.horizon_normal, start.geometric_normal);
                let away = (start.origin - start.position).dot(start.geometric_normal);
                assert!(away > 0.0 && away < 1e-6);
            };
            let with = |corner_normals| VisiblePoint {
                corner_normals,
                ..outside
            };
            own(on_sphere(CORNERS, position, -Vec3::Z));
            own(with([flat; 3]));
            own(with(triangle.map(|n| -n)));
            own(with([Vec3::ZERO; 3]));
            own(with([Vec3::NAN; 3]));
            // For opposite normals, normals on the wrong side do not count, and the remaining normals point
            // up.
            let mixed = with([a, -b, c]).start();
            assert!(mixed.lift == DVec3::ZERO || mixed.lift.dot(mixed.geometric_normal) > 0.0);
        }
    }

    /// Normals in f32 of triangles that are far away, large or small.
    #[test]
    fn flat_triangles_need_no_lift_in_f32() {
        for (scale, offset) in [(1.0, 0.0), (1e-3, 0.0), (1e5, 0.0), (0.01, 70.0), (1e4, 3e3)] {
            for turn in 0..50 {
                let turn = glam::Quat::from_rotation_x(0.7 * turn as f32)
                    * glam::Quat::from_rotation_y(1.3 * turn as f32);
                let triangle = CORNERS.map(|corner| turn * (scale * corner) + offset);
                let [a, b, c] = triangle;
                // Mesh space, before the node's transform.
                let [p, q, r] = CORNERS;
                let normal = turn * (q - p).cross(r - p).normalize();
                let position = between([a, b, c], [0.3, 0.4]);
                let seen = VisiblePoint {
                    position,
                    normal,
                    triangle,
                    corner_normals: [normal; 3],
                    to_eye: normal,
                };
                assert_eq!(seen.start().lift, DVec3::ZERO, "{scale} {offset} {turn}");
            }
        }
    }

    /// A point outside a triangle, as rasterisers produce, is moved inside by some steps. Other points do not
    /// move.
    #[test]
    fn points_outside_a_triangle_are_moved_inside() {
        let triangle @ [a, b, c] = CORNERS;
        let normal = (b - a).cross(c - a).normalize();
        for (u, v) in [(-1e-3, 0.4), (0.5, -2e-4), (0.6, 0.401), (1.0005, -2e-4)] {
            let seen = VisiblePoint {
                position: between(triangle, [u, v]),
                normal,
                triangle,
                corner_normals: [normal; 3],
                to_eye: normal,
            };
            let start = seen.start();
            let moved = start.position - seen.position.as_dvec3();
            assert!(moved.length() < 2e-3 && moved.dot(normal.as_dvec3()).abs() < 1e-6);
            // Distance from each edge, in steps.
            let step = (start.origin - start.position).length();
            let corners = triangle.map(Vec3::as_dvec3);
            for (i, from) in corners.into_iter().enumerate() {
                let along = (corners[(i + 1) % 3] - from).normalize();
                let inwards = start.geometric_normal.cross(along);
                let depth = (start.position - from).dot(inwards) / step;
                assert!(depth > 3.9, "{u} {v}: {depth}");
            }
            let inside = VisiblePoint {
                position: between(triangle, [0.3, 0.3]),
                ..seen
            };
            let kept = inside.start().position - inside.position.as_dvec3();
            assert!(kept.length() < 1e-7);
        }
    }

    /// A blocker between the triangle and the smooth surface blocks every ray that starts below it, and no
    /// ray of the triangle above it.
    #[test]
    fn blockers_below_the_smooth_surface_block_rays_that_start_below_them() {
        let triangle = CORNERS.map(Vec3::normalize);
        let start = on_sphere(CORNERS, between(triangle, [0.6, 0.3]), Vec3::Z).start();
        let normal = start.geometric_normal;
        let along = start.smooth_normal.reject_from(normal).normalize();
        let sheet = |height: f64| {
            let at = start.origin + height * start.lift;
            let side = along.cross(normal);
            [9.0 * along, 9.0 * (side - along), -9.0 * (side + along)].map(|v| (at + v).as_vec3())
        };
        let below = (along - 0.01 * normal).normalize();
        let above = (along + 0.01 * normal).normalize();
        assert!(start.smooth_normal.dot(below) > 0.0 && start.grazing.is_some_and(|g| g > 0.01));
        assert!(!start.is_blocked(&[triangle], below, 1e30));
        assert!(start.is_blocked(&[sheet(0.5)], below, 1e30));
        assert!(start.is_blocked(&[sheet(1.5)], above, 1e30));
        assert!(start.is_blocked(&[sheet(0.5)], above, 1e30));
        assert!(!start.is_blocked(&[sheet(-0.5)], above, 1e30));
        // The light is nearer than the sheet.
        assert!(!start.is_blocked(&[sheet(1.5)], above, 1e-4));
    }
}
