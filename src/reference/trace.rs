//! Rays against every triangle by brute force, in f64, to compare traversal with.

use super::lbvh::Triangle;
use glam::{DVec3, Vec3};

/// Distance at which a ray hits a triangle from either side, in units of the direction's length (Möller and
/// Trumbore 1997).
pub fn intersect(origin: Vec3, direction: Vec3, triangle: &Triangle) -> Option<f64> {
    let [v0, v1, v2] = triangle.map(Vec3::as_dvec3);
    let (origin, direction) = (origin.as_dvec3(), direction.as_dvec3());
    let (edge1, edge2) = (v1 - v0, v2 - v0);
    let p: DVec3 = direction.cross(edge2);
    let determinant = edge1.dot(p);
    if determinant == 0.0 {
        return None;
    }
    let from_v0 = origin - v0;
    let u = from_v0.dot(p) / determinant;
    let q = from_v0.cross(edge1);
    let v = direction.dot(q) / determinant;
    let inside = u >= 0.0 && v >= 0.0 && u + v <= 1.0;
    inside.then(|| edge2.dot(q) / determinant)
}

/// The closest hit strictly between `t_min` and `t_max`: triangle and distance.
pub fn closest_hit(
    triangles: &[Triangle],
    origin: Vec3,
    direction: Vec3,
    t_min: f64,
    t_max: f64,
) -> Option<(usize, f64)> {
    let hits = triangles
        .iter()
        .enumerate()
        .filter_map(|(number, triangle)| Some((number, intersect(origin, direction, triangle)?)));
    hits.filter(|(_, t)| *t > t_min && *t < t_max)
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
}
