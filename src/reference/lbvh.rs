//! Twins of the tree's stages, in the order of `accel::lbvh`: plain functions over slices, arguments in
//! binding order.

use crate::{
    accel::layout::{ANY_HIT_TEST, BOX_FAR, LeafTriangle, MeshRange, Node, TlasEntry},
    scene::bounds::Aabb,
};
use glam::Vec3;

/// `BOX_FAR` of common/box.wgsl: the empty box reaches from it to its negative.
const FAR: f32 = BOX_FAR as f32;

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

/// Twin of `bounds`: the box around the centroids of each mesh's triangles, and the box of each mesh.
pub fn bounds(triangles: &[Triangle], meshes: &[MeshRange]) -> Vec<(Aabb, Aabb)> {
    let of_mesh = |mesh: &MeshRange| {
        let range =
            mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        let boxes = triangles[range].iter().map(triangle_box);
        boxes
            .filter(|b| !b.is_empty())
            .fold((Aabb::EMPTY, Aabb::EMPTY), |(centroids, whole), b| {
                (centroids.union(Aabb::of([b.center()])), whole.union(b))
            })
    };
    meshes.iter().map(of_mesh).collect()
}

/// Twin of `morton`: the code of each triangle in its mesh's bounds, and of each mesh in the scene's box,
/// with x in the highest bit of each three. An axis has `axis_bits`, for meshes at most 10. Codes of up to 30
/// bits are in the high word.
pub fn morton(
    triangles: &[Triangle],
    meshes: &[MeshRange],
    mesh_bounds: &[(Aabb, Aabb)],
    axis_bits: u32,
) -> Vec<u64> {
    let code = |b: Aabb, bounds: Aabb, axis_bits: u32| {
        let mut code = (1u64 << (3 * axis_bits)) - 1;
        if !b.is_empty() {
            let cells = (1u32 << axis_bits) as f32;
            code = 0;
            for axis in 0..3 {
                let (lower, extent) = (bounds.min[axis], bounds.max[axis] - bounds.min[axis]);
                let cell = if extent < 1e-30 {
                    0
                } else {
                    (((b.center()[axis] - lower) * (cells / extent)) as u32).min(cells as u32 - 1)
                };
                for bit in 0..axis_bits {
                    code |= u64::from(cell >> bit & 1) << (3 * bit + 2 - axis as u32);
                }
            }
        }
        if axis_bits > 10 { code } else { code << 32 }
    };
    let mut codes = vec![0; triangles.len()];
    for (mesh, (bounds, _)) in meshes.iter().zip(mesh_bounds) {
        for triangle in mesh.first_triangle..mesh.first_triangle + mesh.triangle_count {
            let b = triangle_box(&triangles[triangle as usize]);
            codes[triangle as usize] = code(b, *bounds, axis_bits);
        }
    }
    let scene = mesh_bounds
        .iter()
        .fold(Aabb::EMPTY, |scene, (_, whole)| scene.union(*whole));
    let of_mesh = |(_, whole): &(Aabb, Aabb)| code(*whole, scene, axis_bits.min(10));
    codes.extend(mesh_bounds.iter().map(of_mesh));
    codes
}

/// The TLAS as one more mesh, whose triangles are the others.
pub fn with_tlas(meshes: &[MeshRange]) -> Vec<MeshRange> {
    let tlas = MeshRange {
        first_triangle: meshes
            .last()
            .map_or(0, |mesh| mesh.first_triangle + mesh.triangle_count),
        triangle_count: meshes.len() as u32,
        first_vertex: 0,
    };
    meshes.iter().copied().chain([tlas]).collect()
}

/// Twin of the sorts: the items (triangles, then meshes) in leaf order, by mesh and code, equal ones as they
/// were. `meshes` are those of [`with_tlas`], here and below.
pub fn order(codes: &[u64], meshes: &[MeshRange]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..codes.len() as u32).collect();
    for mesh in meshes {
        let range =
            mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        order[range].sort_by_key(|item| codes[*item as usize]);
    }
    order
}

/// Twin of `leaves`: the triangles in leaf order, then the rows of the TLAS in theirs.
pub fn leaves(
    triangles: &[Triangle],
    triangle_info: &[[u32; 2]],
    tlas: &[TlasEntry],
    order: &[u32],
) -> Vec<LeafTriangle> {
    let leaf = |item: &u32| {
        let Some(triangle) = triangles.get(*item as usize) else {
            let mesh = *item as usize - triangles.len();
            let entry = &tlas[mesh];
            return LeafTriangle {
                v0: entry.box_min,
                triangle: entry.first_triangle,
                v1: entry.box_max,
                payload: entry.triangle_count,
                v2: entry.box_min,
                mesh: mesh as u32,
            };
        };
        let [mesh, payload] = triangle_info[*item as usize];
        let [v0, v1, v2] = if triangle_box(triangle).is_empty() {
            [[FAR; 3]; 3]
        } else {
            triangle.map(|v| v.to_array())
        };
        LeafTriangle {
            v0,
            triangle: *item,
            v1,
            payload,
            v2,
            mesh,
        }
    };
    order.iter().map(leaf).collect()
}

/// Twin of `hierarchy`: top-down, which is what Karras's parallel construction stands for. A node over a
/// range splits it where the highest differing bit of its codes changes, and in halves of its places' common
/// prefix where the codes are equal. `None` where no node lies.
pub fn hierarchy(
    sorted_codes: &[u64],
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
fn split(codes: &[u64], first: usize, last: usize) -> usize {
    let key = |place: usize| u128::from(codes[place]) << 32 | place as u128;
    let shared = (key(first) ^ key(last)).leading_zeros();
    (first..last)
        .rev()
        .find(|place| (key(first) ^ key(*place)).leading_zeros() > shared)
        .unwrap_or(first)
}

/// Twin of `tlas`: the offset table.
pub fn tlas(meshes: &[MeshRange], mesh_bounds: &[(Aabb, Aabb)]) -> Vec<TlasEntry> {
    let entry = |(mesh, (_, whole)): (&MeshRange, &(Aabb, Aabb))| {
        let (box_min, box_max) = gpu_box(*whole);
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
    meshes.iter().zip(mesh_bounds).map(entry).collect()
}

/// Twin of `cost`, in f64: the sum of the surface areas of all inner nodes, and that of the root. A place
/// without a node holds zeros.
pub fn cost(nodes: &[Node], triangle_count: usize, mesh_count: usize) -> (f64, f64) {
    let area = |node: &Node| {
        let extents = [0, 1, 2].map(|axis| {
            let upper = node.left_max[axis].max(node.right_max[axis]);
            f64::from(upper) - f64::from(node.left_min[axis].min(node.right_min[axis]))
        });
        let [x, y, z] = extents;
        if x < 0.0 {
            0.0
        } else {
            2.0 * (x * y + y * z + z * x)
        }
    };
    let root = match mesh_count {
        0 => None,
        1 => nodes.first(),
        _ => nodes.get(triangle_count),
    };
    (nodes.iter().map(area).sum(), root.map_or(0.0, area))
}

/// The box of a leaf; empty for one that `leaves` made a point of, past all others, and for a mesh without
/// triangles.
fn leaf_box(leaf: &LeafTriangle) -> Aabb {
    if leaf.v0 == [FAR; 3] {
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
    info & !ANY_HIT_TEST
}
