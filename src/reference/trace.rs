//! Rays against every triangle by brute force, in f64, to compare traversal with; and against boxes as the shader
//! does it.

use super::lbvh::Triangle;
use crate::accel::layout::{Node, Ray};
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

/// Twin of `bvh_enter` for one child of a node, in f32 as the shader computes, for an inverse direction and a margin
/// of the caller's: where the ray enters the child's box.
pub fn enter(node: &Node, child: usize, ray: &Ray, inverse: Vec3, margin: f32) -> Option<f32> {
    let (mut near, mut far) = (ray.t_min, f32::INFINITY);
    for axis in 0..3 {
        let corner = |steps: [u32; 3]| (steps[axis] >> (8 * child) & 255) as f32;
        let (lower, upper) = (corner(node.lower), corner(node.upper));
        let (first, last) = if inverse[axis] >= 0.0 {
            (lower, upper)
        } else {
            (upper, lower)
        };
        let step = f32::from_bits((node.exponents >> (8 * axis) & 255) << 23) * inverse[axis];
        let start = (node.origin[axis] - ray.origin[axis]) * inverse[axis];
        near = near.max(first * step + start);
        far = far.min(last * step + start);
    }
    (near <= (far * margin).min(ray.t_max)).then_some(near)
}
