//! CPU reference of `bvh/build/ray_nodes.wgsl`: nodes for rays on GPUs.

use canopy_bvh::{
    accel::{
        layout::{LeafTriangle, Node, RAY_COUNT_SHIFT, RAY_LEAVES, RAY_LEAVES_MAX},
        tree::TreeData,
    },
    gpu::RayBoxes,
};
use half::f16;
use std::ops::Range;

/// Rows of a node, in the layout of `bvh/ray_node.wgsl`: five with halves, four with bytes.
pub type RayNode = Vec<[u32; 4]>;

/// Smallest normal half.
const HALF_MIN: f32 = 6.103_515_6e-5;
/// Lower plane of a missing child.
const HALF_MAX: f32 = 65504.0;

/// Returns the nodes for rays with this leaf cutoff, with the indices of `tree`'s nodes. `None` for unused
/// slots.
pub fn ray_nodes(tree: &TreeData, leaf_cutoff: u32, boxes: RayBoxes) -> Vec<Option<RayNode>> {
    let triangles = tree.nodes.len() - tree.tlas.len();
    let cutoff = leaf_cutoff.max(tree.leaf_cutoff).clamp(1, RAY_LEAVES_MAX);
    let slots = tree.nodes.iter().zip(&tree.node_areas).enumerate();
    slots
        .map(|(index, (node, area))| {
            let meshes = (index >= triangles).then_some(&tree.triangles[..]);
            (*area >= 0.0).then(|| ray_node(node, meshes, cutoff, boxes))
        })
        .collect()
}

/// Converts one node. `meshes` are all leaves, for a node of the TLAS.
fn ray_node(node: &Node, meshes: Option<&[LeafTriangle]>, cutoff: u32, boxes: RayBoxes) -> RayNode {
    let [a, b, c, _] = node.ends;
    let starts = [node.first, a, b, c];
    let mut is_missing = [false; 4];
    let mut children = [0; 4];
    let mut last = leaves(0, 1);
    for child in 0..4 {
        let (first, end) = (starts[child], node.ends[child]);
        let is_first = node.exponents >> (24 + child) & 1 == 1;
        let number = if is_first { first } else { end.wrapping_sub(1) };
        match (end - first, meshes) {
            (0, _) => is_missing[child] = true,
            (1, Some(meshes)) => {
                let mesh = &meshes[first as usize];
                match mesh.payload {
                    0 => is_missing[child] = true,
                    count if count <= cutoff => last = leaves(mesh.triangle, count),
                    _ => last = mesh.triangle,
                }
            }
            (count, None) if count <= cutoff => last = leaves(first, count),
            _ => last = number,
        }
        children[child] = last;
    }
    let exponents = [0, 8, 16].map(|bit| node.exponents >> bit & 255);
    let exponent = exponents.into_iter().max().unwrap_or(0);
    let axes = [0, 1, 2].map(|axis| {
        let scale = f32::from_bits((exponents[axis] + 127).saturating_sub(exponent).max(1) << 23);
        let steps = |planes: [u32; 3]| planes[axis].to_le_bytes().map(|plane| f32::from(plane) * scale);
        [steps(node.lower), steps(node.upper)]
    });
    let sum = |child: usize| axes.map(|[lower, upper]| lower[child] + upper[child]);
    let pair =
        |a: usize, b: usize| axes.map(|[lower, upper]| lower[a].min(lower[b]) + upper[a].max(upper[b]));
    let order = order_axis(sum(0), sum(1))
        | order_axis(sum(2), sum(3)) << 3
        | order_axis(pair(0, 1), pair(2, 3)) << 6;
    let [x, y, z] = node.origin.map(f32::to_bits);
    match boxes {
        RayBoxes::Halves => {
            let [rows_x, rows_y, rows_z] = axes.map(|[lower, upper]| halves(lower, upper, is_missing));
            let grid = [x, y, z, exponent << 24 | order];
            vec![grid, rows_x, rows_y, rows_z, children]
        }
        RayBoxes::Bytes => {
            let missing = u32::from_le_bytes(is_missing.map(|is_missing| if is_missing { 255 } else { 0 }));
            let low = node.lower.map(|planes| planes | missing);
            let high = node.upper.map(|planes| planes & !missing);
            let present = (0..4)
                .filter(|child| !is_missing[*child])
                .map(|child| 1 << (9 + child));
            let order = order | present.sum::<u32>();
            let grid = [x, y, z, node.exponents];
            let rows_xy = [low[0], high[0], low[1], high[1]];
            vec![grid, rows_xy, [low[2], high[2], order, 0], children]
        }
    }
}

fn leaves(first: u32, count: u32) -> u32 {
    RAY_LEAVES | (count - 1) << RAY_COUNT_SHIFT | first
}

/// Returns the lower and upper planes of four children as halves.
fn halves(lower: [f32; 4], upper: [f32; 4], is_missing: [bool; 4]) -> [u32; 4] {
    let mut planes = [[HALF_MAX; 4], [0.0; 4]];
    for child in (0..4).filter(|child| !is_missing[*child]) {
        let (low, high) = (lower[child], upper[child]);
        planes[0][child] = if low < HALF_MIN { 0.0 } else { low };
        let is_small = high < HALF_MIN && high > 0.0;
        planes[1][child] = if is_small { HALF_MIN } else { high };
    }
    let pair = |a: f32, b: f32| {
        let [a, b] = [a, b].map(|plane| u32::from(f16::from_f32(plane).to_bits()));
        a | b << 16
    };
    let [lower, upper] = planes;
    [
        pair(lower[0], lower[1]),
        pair(lower[2], lower[3]),
        pair(upper[0], upper[1]),
        pair(upper[2], upper[3]),
    ]
}

/// Returns the axis along which b is farthest from a, plus 3 if it is on the negative side.
fn order_axis(a: [f32; 3], b: [f32; 3]) -> u32 {
    let apart = [0, 1, 2].map(|axis| b[axis] - a[axis]);
    let [x, y, z] = apart.map(f32::abs);
    let axis = if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    };
    axis as u32 + if apart[axis] < 0.0 { 3 } else { 0 }
}

/// Target of a reference of a ray node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RayChild {
    /// Index of a node.
    Node(u32),
    /// Range of leaves.
    Leaves(Range<u32>),
}

/// Returns the children of a node, with the lower and upper corners of their boxes in f64. Missing children
/// are left out.
pub fn children(node: &RayNode) -> Vec<(RayChild, [[f64; 3]; 2])> {
    let references = node[node.len() - 1];
    let plane = |axis: usize, number: usize| {
        let (steps, exponent) = match node.len() {
            4 => {
                let words = [node[1], node[2]].concat();
                let byte = words[2 * axis + number / 4] >> (8 * (number % 4)) & 255;
                (f64::from(byte), node[0][3] >> (8 * axis) & 255)
            }
            _ => {
                let half = f16::from_bits((node[1 + axis][number / 2] >> (16 * (number % 2))) as u16);
                (f64::from(half), node[0][3] >> 24)
            }
        };
        f64::from(f32::from_bits(node[0][axis])) + steps * 2f64.powi(exponent as i32 - 127)
    };
    let child = |child: usize| {
        let corner = |first: usize| [0, 1, 2].map(|axis| plane(axis, first + child));
        let (lower, upper) = (corner(0), corner(4));
        let reference = references[child];
        let to = match reference & RAY_LEAVES {
            0 => RayChild::Node(reference),
            _ => {
                let first = reference & ((1 << RAY_COUNT_SHIFT) - 1);
                RayChild::Leaves(first..first + (reference >> RAY_COUNT_SHIFT & 31) + 1)
            }
        };
        (lower[0] <= upper[0]).then_some((to, [lower, upper]))
    };
    (0..4).filter_map(child).collect()
}
