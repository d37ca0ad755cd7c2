//! CPU references of the stages of the BVH build, in the order of `accel::lbvh`. They are plain functions
//! over slices, with arguments in binding order.

use canopy_bvh::accel::layout::{
    ANY_HIT_TEST, EMPTY_BOX_EXTENT, LeafTriangle, MeshRange, NODE_SLACK, NODE_STEP_MIN, NODE_STEP_SHARE,
    NODE_STEP_TINY, Node, STACK_SIZE, TlasEntry,
};
use canopy_scene::bounds::Aabb;
use glam::Vec3;

/// `EMPTY_BOX_EXTENT` as an f32. The lower corner of the empty box is at plus this value, its upper corner at
/// minus it.
const FAR: f32 = EMPTY_BOX_EXTENT as f32;

/// Corners of a triangle.
pub type Triangle = [Vec3; 3];

/// Returns the corners of every triangle of merged buffers.
pub fn triangles(positions: &[Vec3], indices: &[[u32; 3]]) -> Vec<Triangle> {
    indices
        .iter()
        .map(|triangle| triangle.map(|vertex| positions[vertex as usize]))
        .collect()
}

/// CPU reference of `geometry_box`: box of a triangle, which is empty if a coordinate is not finite or not
/// below 2^50.
pub fn triangle_box(triangle: &Triangle) -> Aabb {
    let valid = |x: f32| x.abs() < (1u64 << 50) as f32;
    if triangle.iter().all(|v| v.to_array().into_iter().all(valid)) {
        Aabb::from_points(*triangle)
    } else {
        Aabb::EMPTY
    }
}

/// Decodes a box in the output of `bounds`: three words for its lower corner, which are complemented, and
/// three for its upper corner.
pub fn decode_bounds(words: &[u32]) -> Aabb {
    if words[3] == 0 {
        return Aabb::EMPTY;
    }
    let float = |x: u32| f32::from_bits(if x >> 31 == 1 { x & 0x7fff_ffff } else { !x });
    Aabb {
        min: Vec3::from_array([0, 1, 2].map(|i| float(!words[i]))),
        max: Vec3::from_array([3, 4, 5].map(|i| float(words[i]))),
    }
}

/// CPU reference of `bounds`: box around the centroids of each mesh's triangles, and box of each mesh.
pub fn bounds(triangles: &[Triangle], meshes: &[MeshRange]) -> Vec<(Aabb, Aabb)> {
    let of_mesh = |mesh: &MeshRange| {
        let range = mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        let boxes = triangles[range].iter().map(triangle_box);
        boxes
            .filter(|b| !b.is_empty())
            .fold((Aabb::EMPTY, Aabb::EMPTY), |(centroids, whole), b| {
                (centroids.union(Aabb::from_points([b.center()])), whole.union(b))
            })
    };
    meshes.iter().map(of_mesh).collect()
}

/// CPU reference of `morton`: code of each triangle in its mesh's bounds, and of each mesh in the scene's
/// box. The highest bit of each three is the bit of x. An axis has `axis_bits` bits, but at most 10 for
/// meshes. Codes of up to 30 bits are in the high word.
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

/// True if the codes of [`morton`] refer to the same or adjacent cells on each axis. The codes of `meshes`
/// are last. WGSL's division may be off by 2.5 ulp, so a centroid at the edge of a cell may fall into the
/// next one. With 10 bits an axis, that error is far smaller than a cell, so at most one code in a hundred
/// may differ.
pub fn are_near(codes: &[u64], twin: &[u64], meshes: usize, axis_bits: u32) -> bool {
    let cell = |code: u64, axis: u32| {
        let bits = (0..21).map(|bit| (code >> (3 * bit + axis) & 1) << bit);
        bits.sum::<u64>()
    };
    let wide = if axis_bits > 10 {
        codes.len().saturating_sub(meshes)
    } else {
        0
    };
    let is_near = |(item, (code, twin)): (usize, (&u64, &u64))| {
        let shift = if item < wide { 0 } else { 32 };
        (0..3).all(|axis| cell(code >> shift, axis).abs_diff(cell(twin >> shift, axis)) <= 1)
    };
    let narrow = codes.iter().zip(twin).skip(wide);
    let differ = narrow.filter(|(code, twin)| code != twin).count();
    codes.len() == twin.len()
        && codes.iter().zip(twin).enumerate().all(is_near)
        && differ * 100 <= codes.len().max(100)
}

/// Appends the TLAS as one more mesh, whose triangles are the other meshes.
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

/// CPU reference of the sorts: items (triangles, then meshes) in leaf order. They are sorted stably by mesh
/// and code. In this and the following functions, `meshes` come from [`with_tlas`].
pub fn order(codes: &[u64], meshes: &[MeshRange]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..codes.len() as u32).collect();
    for mesh in meshes {
        let range = mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        order[range].sort_by_key(|item| codes[*item as usize]);
    }
    order
}

/// Returns the leaves that `hierarchy` and `tlas_leaves` write. These are the triangles in leaf order, then
/// the rows of the TLAS in the leaf order of the TLAS.
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

/// Binary node with its range of leaves, the last leaf of its left child, and its children's boxes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Binary {
    pub(super) first: usize,
    pub(super) split: usize,
    pub(super) last: usize,
    pub(super) boxes: [Aabb; 2],
}

/// Child of a node with its range of leaves, its box, and whether it is the right child of its binary parent.
#[derive(Debug, Clone, Copy)]
struct Child {
    first: usize,
    last: usize,
    bounds: Aabb,
    is_right: bool,
}

impl Binary {
    fn children(&self) -> [Child; 2] {
        let child = |first, last, side: usize| Child {
            first,
            last,
            bounds: self.boxes[side],
            is_right: side == 1,
        };
        [
            child(self.first, self.split, 0),
            child(self.split + 1, self.last, 1),
        ]
    }
}

impl Child {
    /// Returns the number of the child's binary node, as in Karras's construction.
    fn number(&self) -> usize {
        if self.is_right { self.first } else { self.last }
    }
}

/// CPU reference of `hierarchy`, top-down instead of Karras's parallel construction. A binary node splits its
/// range where the highest differing bit of its codes changes. If the codes are equal, it splits by the bits
/// of the leaf indices. Each binary node then becomes a four-wide node, as in `node_make`.
pub fn hierarchy(
    sorted_codes: &[u64],
    leaves: &[LeafTriangle],
    meshes: &[MeshRange],
    leaf_cutoff: u32,
) -> Vec<Option<(Node, f64)>> {
    let boxes: Vec<Aabb> = leaves.iter().map(leaf_box).collect();
    collapse_to_four_wide(&binary(sorted_codes, &boxes, meshes), meshes, leaf_cutoff)
}

/// CPU reference of `node_make`: collapses each binary node with more leaves than the cutoff into a four-wide
/// node. The largest child is replaced by its own two children, twice. In a large TLAS, each of the two
/// children is replaced once. Also returns the area of each node. `None` marks a number without a node.
pub(super) fn collapse_to_four_wide(
    binary: &[Option<Binary>],
    meshes: &[MeshRange],
    leaf_cutoff: u32,
) -> Vec<Option<(Node, f64)>> {
    let mut nodes = vec![None; binary.len()];
    for (number, mesh) in meshes.iter().enumerate() {
        let cutoff = if number + 1 == meshes.len() {
            1
        } else {
            leaf_cutoff as usize
        };
        let is_leaf = |child: &Child| child.last - child.first < cutoff;
        let first = mesh.first_triangle as usize;
        for at in first..first + mesh.triangle_count as usize {
            let Some(node) = binary[at].filter(|node| node.last - node.first >= cutoff) else {
                continue;
            };
            let mut children = node.children().to_vec();
            let is_large_tlas = number + 1 == meshes.len() && number > STACK_SIZE as usize;
            let halves = children.clone();
            // In a TLAS that may overflow the stack, a grandchild is not replaced again.
            let stays = |child: &Child| {
                let half = |half: &Child| (half.first, half.last) == (child.first, child.last);
                is_leaf(child) || (is_large_tlas && !halves.iter().any(half))
            };
            for _ in 0..2 {
                let size = |child: &Child| {
                    let extent = child.bounds.max - child.bounds.min;
                    (extent.x + extent.y + extent.z).max(0.0)
                };
                // Ties go to the first child.
                let inner = (0..children.len()).rev().filter(|i| !stays(&children[*i]));
                let largest = inner.max_by(|a, b| size(&children[*a]).total_cmp(&size(&children[*b])));
                let opened = largest.and_then(|i| Some((i, binary[children[i].number()]?)));
                if let Some((i, opened)) = opened {
                    children.splice(i..=i, opened.children());
                }
            }
            let around = node.boxes[0].union(node.boxes[1]);
            nodes[at] = Some((encode_node(number as u32, &children), area(around)));
        }
    }
    nodes
}

/// Returns the binary nodes by Karras's numbers.
fn binary(sorted_codes: &[u64], boxes: &[Aabb], meshes: &[MeshRange]) -> Vec<Option<Binary>> {
    let mut nodes = vec![None; sorted_codes.len()];
    for mesh in meshes {
        let mut open = Vec::new();
        if mesh.triangle_count > 1 {
            let first = mesh.first_triangle as usize;
            open.push((first, first, first + mesh.triangle_count as usize - 1));
        }
        while let Some((node, first, last)) = open.pop() {
            let split = split(sorted_codes, first, last);
            let side = |leaves: &[Aabb]| leaves.iter().copied().fold(Aabb::EMPTY, Aabb::union);
            nodes[node] = Some(Binary {
                first,
                split,
                last,
                boxes: [side(&boxes[first..=split]), side(&boxes[split + 1..=last])],
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

/// Returns the last leaf of the range whose key shares a longer prefix with the first key than the last key
/// does.
fn split(codes: &[u64], first: usize, last: usize) -> usize {
    let key = |leaf: usize| u128::from(codes[leaf]) << 32 | leaf as u128;
    let shared = (key(first) ^ key(last)).leading_zeros();
    (first..last)
        .rev()
        .find(|leaf| (key(first) ^ key(*leaf)).leading_zeros() > shared)
        .unwrap_or(first)
}

/// Returns a node over up to four leaves with these boxes.
pub fn node_of(boxes: &[Aabb]) -> Node {
    let child = |(i, bounds): (usize, &Aabb)| Child {
        first: i,
        last: i,
        bounds: *bounds,
        is_right: false,
    };
    encode_node(0, &boxes.iter().enumerate().map(child).collect::<Vec<_>>())
}

/// CPU reference of `node_write`: encodes a node with these children.
fn encode_node(mesh: u32, children: &[Child]) -> Node {
    let last = children[children.len() - 1].last;
    let mut around = children
        .iter()
        .fold(Aabb::EMPTY, |b, child| b.union(child.bounds));
    if around.is_empty() {
        around = Aabb::from_points([Vec3::ZERO]);
    }
    let child = |i: usize| children.get(i);
    let mut node = Node {
        mesh,
        first: children[0].first as u32,
        ends: [0, 1, 2, 3].map(|i| child(i).map_or(last, |child| child.last) as u32 + 1),
        ..Node::default()
    };
    for (i, child) in children.iter().enumerate() {
        node.exponents |= u32::from(child.is_right) << (24 + i);
    }
    let boxes = [0, 1, 2, 3].map(|i| child(i).map_or(Aabb::EMPTY, |child| child.bounds));
    for axis in 0..3 {
        let (lower, upper) = (around.min[axis], around.max[axis]);
        let share = (upper - lower) * NODE_STEP_SHARE as f32;
        let least = lower.abs().max(upper.abs()) * NODE_STEP_MIN as f32;
        let step = share.max(least).max(NODE_STEP_TINY as f32);
        let exponent = step.to_bits().div_ceil(1 << 23);
        let step = f32::from_bits(exponent << 23);
        node.exponents |= exponent << (8 * axis);
        node.origin[axis] = lower - step;
        for (child, b) in boxes.iter().enumerate().rev() {
            let steps = |x: f32| (x - node.origin[axis]) / step;
            let (low, high) = if b.is_empty() {
                (255.0, 0.0)
            } else {
                let slack = NODE_SLACK as f32;
                let low = (steps(b.min[axis]) - slack).floor();
                (low, (steps(b.max[axis]) + slack).ceil())
            };
            node.lower[axis] |= (low as u8 as u32) << (8 * child);
            node.upper[axis] |= (high as u8 as u32) << (8 * child);
        }
    }
    node
}

/// CPU reference of `tlas`: the offset table.
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

/// CPU reference of `cost`, in f64: surface areas of the root, and summed over all binary nodes that became
/// nodes.
pub fn cost(nodes: &[Option<(Node, f64)>], triangle_count: usize, mesh_count: usize) -> (f64, f64) {
    let area = |node: &Option<(Node, f64)>| node.map_or(0.0, |(_, area)| area);
    let root = match mesh_count {
        0 => None,
        1 => nodes.first(),
        _ => nodes.get(triangle_count),
    };
    (nodes.iter().map(area).sum(), root.map_or(0.0, area))
}

/// Returns the surface area of a box.
fn area(b: Aabb) -> f64 {
    if b.is_empty() {
        return 0.0;
    }
    let [x, y, z] = (b.max.as_dvec3() - b.min.as_dvec3()).to_array();
    2.0 * (x * y + y * z + z * x)
}

/// Returns the box of a leaf. It is empty for a triangle that was replaced by a point beyond all others, and
/// for a mesh without triangles.
pub(super) fn leaf_box(leaf: &LeafTriangle) -> Aabb {
    if leaf.v0 == [FAR; 3] {
        Aabb::EMPTY
    } else {
        Aabb::from_points([leaf.v0, leaf.v1, leaf.v2].map(Vec3::from))
    }
}

/// Returns the box as the GPU stores it. The empty box has finite, inverted corners.
fn gpu_box(b: Aabb) -> ([f32; 3], [f32; 3]) {
    if b.is_empty() {
        ([FAR; 3], [-FAR; 3])
    } else {
        (b.min.to_array(), b.max.to_array())
    }
}

/// Returns the index of the mesh in a triangle's first word, without the flag.
pub fn mesh_of(info: u32) -> u32 {
    info & !ANY_HIT_TEST
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_adjacent_cells_count_as_near() {
        // Cell 3 of x is next to cell 4, whose codes share no bit of x. Then comes cell 5.
        let code = |x: u64| (0..21).map(|bit| (x >> bit & 1) << (3 * bit + 2)).sum::<u64>();
        let codes = |x: u64, shift: u32| {
            let mut codes = vec![code(7) << shift; 200];
            codes[17] = code(x) << shift;
            codes
        };
        for (axis_bits, shift) in [(10, 32), (21, 0)] {
            let near = |x| are_near(&codes(x, shift), &codes(3, shift), 0, axis_bits);
            assert_eq!([3, 4, 5].map(near), [true, true, false], "{axis_bits}");
        }
        // Three of 200 codes are too many, unless cells are as small as the division's error.
        let many = |shift: u32| [vec![code(6) << shift; 3], vec![code(7) << shift; 197]].concat();
        assert!(!are_near(&many(32), &codes(7, 32), 0, 10));
        assert!(are_near(&many(0), &codes(7, 0), 0, 21));
        // Codes of meshes are short even if the codes of triangles are long.
        let with_mesh = |x: u64| [codes(7, 0), vec![code(x) << 32]].concat();
        assert!(are_near(&with_mesh(3), &with_mesh(4), 1, 21));
        assert!(!are_near(&with_mesh(3), &with_mesh(5), 1, 21));
        assert!(!are_near(&codes(7, 0), &codes(7, 0)[1..], 0, 21));
    }
}
