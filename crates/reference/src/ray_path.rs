//! CPU reference of the traversal in bvh/bvh.wgsl: the nodes and triangles that a ray visits, in order.

use super::{trace::intersect_child, tree_boxes::Trees};
use canopy_bvh::accel::layout::{BVH_MARGIN, Node, Ray, STACK_SIZE};
use glam::Vec3;

/// Node or triangle that a ray visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visit {
    /// Node with this index.
    Node(u32),
    /// Triangle at this leaf, and whether the ray hits it.
    Triangle(u32, bool),
}

/// Entry of the traversal stack.
#[derive(Clone, Copy)]
enum Next {
    Node(u32),
    Mesh(u32),
}

/// Returns the visits of a ray in order. With `any`, traversal ends at the first hit. No hit is rejected.
pub fn visits(tree: Trees<'_>, ray: &Ray, leaf_cutoff: u32, any: bool) -> Vec<Visit> {
    let mut ray = *ray;
    let cutoff = leaf_cutoff.max(tree.leaf_cutoff);
    let triangle_count: u32 = tree.tlas.iter().map(|mesh| mesh.triangle_count).sum();
    let inverse = inverse(Vec3::from(ray.direction));
    let mut visits = Vec::new();
    let mut stack = match tree.tlas.len() {
        0 => return visits,
        1 => vec![Next::Mesh(triangle_count)],
        _ => vec![Next::Node(triangle_count)],
    };
    while let Some(next) = stack.pop() {
        let mut tested = Vec::new();
        match next {
            Next::Mesh(leaf) => {
                let mesh = &tree.triangles[leaf as usize];
                if mesh.payload > cutoff {
                    stack.push(Next::Node(mesh.triangle));
                } else {
                    tested.extend(mesh.triangle..mesh.triangle + mesh.payload);
                }
            }
            Next::Node(number) => {
                visits.push(Visit::Node(number));
                let node = &tree.nodes[number as usize];
                let over_meshes = number >= triangle_count;
                let mut entered = children(node, &ray, inverse);
                // Ties go to the child with the lower index. Distances lose their lowest bits.
                entered.sort_by_key(|(child, at)| (at.to_bits() & 0x7fff_fffc, *child));
                let limit = if over_meshes { 1 } else { cutoff };
                let is_leaf = |child: usize| node.leaves(child).len() as u32 <= limit;
                let inner = entered
                    .iter()
                    .filter(|(child, _)| over_meshes || !is_leaf(*child));
                let inner: Vec<_> = inner.map(|(child, _)| *child).collect();
                if stack.len() + inner.len().saturating_sub(1) > STACK_SIZE as usize {
                    tested.extend(node.first..node.ends[3]);
                } else {
                    // The nearest child is popped first.
                    for child in inner.into_iter().rev() {
                        stack.push(match over_meshes && is_leaf(child) {
                            true => Next::Mesh(node.child(child)),
                            false => Next::Node(node.child(child)),
                        });
                    }
                    if !over_meshes {
                        let mut leaves: Vec<_> = entered.iter().map(|(child, _)| *child).collect();
                        leaves.retain(|child| is_leaf(*child));
                        leaves.sort_unstable();
                        tested.extend(leaves.into_iter().flat_map(|child| node.leaves(child)));
                    }
                }
            }
        }
        for leaf in tested {
            let hit = hit(tree, leaf, &ray);
            visits.push(Visit::Triangle(leaf, hit.is_some()));
            if let Some(t) = hit {
                ray.t_max = t;
                if any {
                    return visits;
                }
            }
        }
    }
    visits
}

/// Returns the inverse of a direction, with zeros replaced by tiny numbers.
fn inverse(direction: Vec3) -> Vec3 {
    let tiny = 1.0e-20f32;
    let safe = |x: f32| match x {
        _ if x.abs() >= tiny => x,
        _ if x < 0.0 => -tiny,
        _ => tiny,
    };
    1.0 / Vec3::new(safe(direction.x), safe(direction.y), safe(direction.z))
}

/// Returns the children that the ray enters, with the distances.
fn children(node: &Node, ray: &Ray, inverse: Vec3) -> Vec<(usize, f32)> {
    let present = (0..4).filter(|child| !node.leaves(*child).is_empty());
    let entered = present.filter_map(|child| {
        let at = intersect_child(node, child, ray, inverse, BVH_MARGIN as f32)?;
        Some((child, at))
    });
    entered.collect()
}

/// Returns the distance at which the ray hits a triangle, in f32. The edge test uses Plücker coordinates, so
/// rays close to an edge may be decided differently than by `bvh_triangle`.
fn hit(tree: Trees<'_>, leaf: u32, ray: &Ray) -> Option<f32> {
    let triangle = &tree.triangles[leaf as usize];
    let corners = [triangle.v0, triangle.v1, triangle.v2].map(Vec3::from);
    let (origin, direction) = (Vec3::from(ray.origin), Vec3::from(ray.direction));
    let [a, b, c] = corners.map(|corner| corner - origin);
    let edge = |p: Vec3, q: Vec3| (p + q).cross(p - q).dot(direction);
    let (u, v, w) = (edge(c, b), edge(a, c), edge(b, a));
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
    let approach = normal.dot(direction);
    let t = normal.dot(a) / approach;
    let inside = u.min(v).min(w) >= 0.0 || u.max(v).max(w) <= 0.0;
    let is_hit = inside && u + v + w != 0.0 && approach != 0.0 && t > ray.t_min && t < ray.t_max;
    is_hit.then_some(t)
}
