//! Twins of the tree's stages, in the order of `accel::lbvh`: plain functions over slices, arguments in binding order.

use crate::{
    gpu::layout::{LeafTriangle, MeshRange, NEEDS_CONSENT, Node, TlasEntry},
    scene::bounds::Aabb,
};
use glam::Vec3;

/// `BOX_FAR` of common/box.wgsl: the empty box reaches from it to its negative.
const FAR: f32 = 3.0e38;

/// Corners of a triangle.
pub type Triangle = [Vec3; 3];

/// The corners of every triangle of merged buffers.
pub fn triangles(positions: &[Vec3], indices: &[[u32; 3]]) -> Vec<Triangle> {
    indices
        .iter()
        .map(|triangle| triangle.map(|vertex| positions[vertex as usize]))
        .collect()
}

/// Twin of `geometry_box`: a triangle's box, empty where a coordinate is not finite or not below 2^50.
pub fn triangle_box(triangle: &Triangle) -> Aabb {
    let valid = |x: f32| x.abs() < (1u64 << 50) as f32;
    if triangle.iter().all(|v| v.to_array().into_iter().all(valid)) {
        Aabb::of(*triangle)
    } else {
        Aabb::EMPTY
    }
}

/// Twin of `bounds`: the box around the centroids of each mesh's triangles.
pub fn bounds(triangles: &[Triangle], meshes: &[MeshRange]) -> Vec<Aabb> {
    let centroids = |mesh: &MeshRange| {
        let range =
            mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        let boxes = triangles[range].iter().map(triangle_box);
        Aabb::of(boxes.filter(|b| !b.is_empty()).map(Aabb::center))
    };
    meshes.iter().map(centroids).collect()
}

/// Twin of `morton`: the 30-bit code of each triangle in its mesh's bounds, x in the highest bit of each three.
pub fn morton(triangles: &[Triangle], meshes: &[MeshRange], mesh_bounds: &[Aabb]) -> Vec<u32> {
    let mut codes = vec![0x3fff_ffff; triangles.len()];
    for (mesh, bounds) in meshes.iter().zip(mesh_bounds) {
        for place in mesh.first_triangle..mesh.first_triangle + mesh.triangle_count {
            let triangle_box = triangle_box(&triangles[place as usize]);
            if triangle_box.is_empty() {
                continue;
            }
            let mut code = 0;
            for axis in 0..3 {
                let (lower, extent) = (bounds.min[axis], bounds.max[axis] - bounds.min[axis]);
                let cell = if extent < 1e-30 {
                    0
                } else {
                    (((triangle_box.center()[axis] - lower) * (1024.0 / extent)) as u32).min(1023)
                };
                for bit in 0..10 {
                    code |= (cell >> bit & 1) << (3 * bit + 2 - axis);
                }
            }
            codes[place as usize] = code;
        }
    }
    codes
}

/// Twin of both sorts: the triangles' numbers in leaf order, by mesh and code, equal ones as they were.
pub fn order(codes: &[u32], meshes: &[MeshRange]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..codes.len() as u32).collect();
    for mesh in meshes {
        let range =
            mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        order[range].sort_by_key(|triangle| codes[*triangle as usize]);
    }
    order
}

/// Twin of `leaves`: the triangles in leaf order.
pub fn leaves(
    triangles: &[Triangle],
    triangle_info: &[[u32; 2]],
    order: &[u32],
) -> Vec<LeafTriangle> {
    let leaf = |number: &u32| {
        let triangle = &triangles[*number as usize];
        let [mesh, payload] = triangle_info[*number as usize];
        let [v0, v1, v2] = if triangle_box(triangle).is_empty() {
            [[FAR; 3]; 3]
        } else {
            triangle.map(|v| v.to_array())
        };
        LeafTriangle {
            v0,
            triangle: *number,
            v1,
            payload,
            v2,
            mesh,
        }
    };
    order.iter().map(leaf).collect()
}

/// Twin of `hierarchy`: top-down, which is what Karras's parallel construction stands for. A node over a range splits it where the highest
/// differing bit of its codes changes, and in halves of its places' common prefix where the codes are equal. `None` where no node lies.
pub fn hierarchy(
    sorted_codes: &[u32],
    leaves: &[LeafTriangle],
    meshes: &[MeshRange],
) -> Vec<Option<Node>> {
    let mut nodes = vec![None; sorted_codes.len()];
    let boxes: Vec<Aabb> = leaves.iter().map(leaf_box).collect();
    for (number, mesh) in meshes.iter().enumerate() {
        let mut open = Vec::new();
        if mesh.triangle_count > 1 {
            let first = mesh.first_triangle as usize;
            open.push((first, first, first + mesh.triangle_count as usize - 1));
        }
        while let Some((node, first, last)) = open.pop() {
            let split = split(sorted_codes, first, last);
            let side = |first: usize, last: usize| {
                boxes[first..=last]
                    .iter()
                    .copied()
                    .fold(Aabb::EMPTY, Aabb::union)
            };
            let (left, right) = (gpu_box(side(first, split)), gpu_box(side(split + 1, last)));
            nodes[node] = Some(Node {
                left_min: left.0,
                first: first as u32,
                left_max: left.1,
                split: split as u32,
                right_min: right.0,
                last: last as u32,
                right_max: right.1,
                mesh: number as u32,
            });
            if split > first {
                open.push((split, first, split));
            }
            if last > split + 1 {
                open.push((split + 1, split + 1, last));
            }
        }
    }
    nodes
}

/// The last place of the range whose key shares more with the first one's than the last one's does.
fn split(codes: &[u32], first: usize, last: usize) -> usize {
    let key = |place: usize| u64::from(codes[place]) << 32 | place as u64;
    let shared = (key(first) ^ key(last)).leading_zeros();
    (first..last)
        .rev()
        .find(|place| (key(first) ^ key(*place)).leading_zeros() > shared)
        .unwrap_or(first)
}

/// Twin of `tlas`: the offset table.
pub fn tlas(leaves: &[LeafTriangle], meshes: &[MeshRange]) -> Vec<TlasEntry> {
    let entry = |mesh: &MeshRange| {
        let range =
            mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        let (box_min, box_max) = gpu_box(
            leaves[range]
                .iter()
                .map(leaf_box)
                .fold(Aabb::EMPTY, Aabb::union),
        );
        TlasEntry {
            node_count: mesh.triangle_count.saturating_sub(1),
            node_offset: mesh.first_triangle,
            vertex_offset: mesh.first_vertex,
            index_offset: 3 * mesh.first_triangle,
            box_min,
            first_triangle: mesh.first_triangle,
            box_max,
            triangle_count: mesh.triangle_count,
        }
    };
    meshes.iter().map(entry).collect()
}

/// The box of a leaf; empty for one that `leaves` made a point of, past all others.
fn leaf_box(leaf: &LeafTriangle) -> Aabb {
    if [leaf.v0, leaf.v1, leaf.v2] == [[FAR; 3]; 3] {
        Aabb::EMPTY
    } else {
        Aabb::of([leaf.v0, leaf.v1, leaf.v2].map(Vec3::from))
    }
}

/// A box as the GPU holds it: the empty one has finite corners, the wrong way round.
fn gpu_box(b: Aabb) -> ([f32; 3], [f32; 3]) {
    if b.is_empty() {
        ([FAR; 3], [-FAR; 3])
    } else {
        (b.min.to_array(), b.max.to_array())
    }
}

/// The mesh in a triangle's first word, without the flag.
pub fn mesh_of(info: u32) -> u32 {
    info & !NEEDS_CONSENT
}
