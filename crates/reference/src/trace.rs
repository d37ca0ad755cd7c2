//! Brute-force rays against every triangle in f64, for comparison with traversal, and rays against boxes as
//! the shader computes them.

use super::lbvh::Triangle;
use canopy_bvh::accel::layout::{Node, Ray};
use glam::{DVec3, Vec3};

/// Returns the distance at which a ray hits a triangle from either side, in units of the direction's length
/// (Möller and Trumbore 1997).
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

/// Returns the closest hit strictly between `t_min` and `t_max`, as triangle and distance.
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

/// CPU reference of `bvh_triangle`, in f32. Returns the distance and the barycentric weights of the second
/// and third corners. `fuses` evaluates with fused multiply-adds, which GPUs use and any compiler may
/// introduce.
pub fn triangle_hit(triangle: &Triangle, ray: &Ray, fuses: bool) -> Option<[f32; 3]> {
    let add = |a: f32, b: f32, c: f32| if fuses { a.mul_add(b, c) } else { a * b + c };
    let dot = |p: Vec3, q: Vec3| add(p.z, q.z, add(p.y, q.y, p.x * q.x));
    let cross = |p: Vec3, q: Vec3| {
        let axis = |i: usize, j: usize| add(p[i], q[j], -(p[j] * q[i]));
        Vec3::new(axis(1, 2), axis(2, 0), axis(0, 1))
    };
    let (origin, direction) = (Vec3::from(ray.origin), Vec3::from(ray.direction));
    let (along, d) = (direction.abs(), direction);
    let [across_x, across_y] = if along.z >= along.x.max(along.y) {
        [Vec3::new(1.0, 0.0, -d.x / d.z), Vec3::new(0.0, 1.0, -d.y / d.z)]
    } else if along.y >= along.x {
        [Vec3::new(1.0, -d.x / d.y, 0.0), Vec3::new(0.0, -d.z / d.y, 1.0)]
    } else {
        [Vec3::new(-d.y / d.x, 1.0, 0.0), Vec3::new(-d.z / d.x, 0.0, 1.0)]
    };
    let corners = triangle.map(|corner| corner - origin);
    let [a, b, c] = corners.map(|v| [dot(across_x, v), dot(across_y, v)]);
    let products = [(b, c), (c, a), (a, b)].map(|(p, q)| [p[0] * q[1], p[1] * q[0]]);
    let edges = [(b, c), (c, a), (a, b)].map(|(p, q)| add(p[0], q[1], -(p[1] * q[0])));
    let inside = products.iter().all(|[left, right]| left >= right)
        || products.iter().all(|[left, right]| left <= right);
    let normal = cross(triangle[1] - triangle[0], triangle[2] - triangle[0]);
    let approach = dot(normal, direction);
    let sum: f32 = edges.iter().sum();
    let t = dot(normal, corners[0]) / approach;
    let is_hit = inside && sum != 0.0 && approach != 0.0 && t > ray.t_min && t < ray.t_max;
    is_hit.then(|| [t, edges[1] / sum, edges[2] / sum])
}

/// CPU reference of `bvh_intersect_children` for one child of a node, in f32 like the shader. Returns the
/// distance at which the ray enters the child's box. The caller provides the inverse direction and the
/// margin.
pub fn intersect_child(node: &Node, child: usize, ray: &Ray, inverse: Vec3, margin: f32) -> Option<f32> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a number in [−1, 1] for each seed.
    fn noise(seed: u32) -> f32 {
        let hashed = (seed ^ seed >> 16).wrapping_mul(0x7feb_352d);
        let hashed = (hashed ^ hashed >> 15).wrapping_mul(0x846c_a68b);
        (hashed ^ hashed >> 16) as f32 / u32::MAX as f32 * 2.0 - 1.0
    }

    /// Casts rays at triangle fans, through the shared corner and through points of the edges that meet
    /// there. One of the triangles must be hit whether or not products are fused. This fails for a test that
    /// relies on the signs of the edges' areas.
    #[test]
    fn no_ray_slips_between_triangles() {
        let mut rays = 0;
        for fan in 0..4000 {
            let at = |number: u32| noise(64 * fan + number);
            let eye = 3.0 * Vec3::new(at(0), at(1), at(2));
            let corner = eye + 4.0 * Vec3::new(at(3), at(4), at(5));
            let (x, y) = (corner - eye).any_orthonormal_pair();
            let count = 4 + fan % 5;
            let rim: Vec<Vec3> = (0..count)
                .map(|i| {
                    let turn = std::f32::consts::TAU * (i as f32 + 0.3 * at(8 + i)) / count as f32;
                    let (sin, cos) = turn.sin_cos();
                    corner + (0.2 + 0.1 * at(16 + i)) * (cos * x + sin * y)
                })
                .collect();
            let triangles: Vec<Triangle> = (0..rim.len())
                .map(|i| [corner, rim[i], rim[(i + 1) % rim.len()]])
                .collect();
            let through = rim
                .iter()
                .flat_map(|end| [0.0, 0.1, 0.5].map(|share| corner.lerp(*end, share)));
            for point in through {
                let direction = (point - eye).normalize();
                let ray = Ray {
                    origin: eye.to_array(),
                    direction: direction.to_array(),
                    t_min: 0.0,
                    t_max: 1e30,
                };
                for fuses in [false, true] {
                    let hits = triangles
                        .iter()
                        .filter_map(|triangle| triangle_hit(triangle, &ray, fuses));
                    assert!(hits.count() > 0, "fan {fan}, {fuses}: {ray:?}");
                }
                rays += 1;
            }
        }
        assert!(rays > 50_000);
    }

    /// Distances and weights match those in f64.
    #[test]
    fn f32_hits_match_f64_hits() {
        let mut hits = 0;
        for number in 0..4000 {
            let at = |k: u32| noise(64 * number + 32 + k);
            let point = |k: u32| Vec3::new(at(k), at(k + 1), at(k + 2));
            let triangle = [point(0), point(3), point(6)];
            let ray = Ray {
                origin: (3.0 * point(9)).to_array(),
                direction: (point(12) - 3.0 * point(9)).to_array(),
                t_min: 0.0,
                t_max: 1e30,
            };
            let wide = intersect(ray.origin.into(), ray.direction.into(), &triangle).filter(|t| *t > 0.0);
            for fuses in [false, true] {
                let found = triangle_hit(&triangle, &ray, fuses);
                assert_eq!(found.is_some(), wide.is_some(), "{number}");
                if let (Some([t, v, w]), Some(wide)) = (found, wide) {
                    let (origin, direction) = (Vec3::from(ray.origin), Vec3::from(ray.direction));
                    let hit = origin + t * direction;
                    let [a, b, c] = triangle;
                    let weighted = a + v * (b - a) + w * (c - a);
                    assert!(
                        (f64::from(t) - wide).abs() < 1e-3 * wide,
                        "{number}: {t} for {wide}"
                    );
                    assert!(hit.distance(weighted) < 1e-3, "{number}: {hit} for {weighted}");
                    hits += 1;
                }
            }
        }
        assert!(hits > 400, "{hits}");
    }
}
