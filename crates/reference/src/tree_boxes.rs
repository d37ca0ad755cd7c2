//! CPU reference of `tree_boxes`: selects the boxes of BVHs to show, from the root down.

use canopy_bvh::accel::layout::{EMPTY_BOX_EXTENT, LeafTriangle, Node, TlasEntry};
use canopy_render::layout::{TreeBox, TreeBoxesParams};

use std::ops::Range;

/// Corners of a box.
type Corners = ([f32; 3], [f32; 3]);

/// Trees that were read back.
#[derive(Debug, Clone, Copy)]
pub struct Trees<'a> {
    /// Entries of the TLAS, one per mesh.
    pub tlas: &'a [TlasEntry],
    /// Nodes of all meshes, then of the TLAS.
    pub nodes: &'a [Node],
    /// Triangles in leaf order, then the meshes.
    pub triangles: &'a [LeafTriangle],
    /// Largest number of triangles in a leaf, which has no node of its own.
    pub leaf_cutoff: u32,
}

/// Returns the boxes that these settings show, mesh by mesh and with parents before their children.
pub fn tree_boxes(params: &TreeBoxesParams, tree: Trees<'_>) -> Vec<TreeBox> {
    let mut shown = Vec::new();
    let leaves = params.first_leaf..params.first_leaf + params.leaf_count;
    if params.over_meshes == 1 {
        let cutoff = 1;
        let root = match tree.tlas {
            [] => return shown,
            [mesh] => (mesh.box_min, mesh.box_max),
            _ => around(&tree.nodes[leaves.start as usize]),
        };
        walk(params, tree, cutoff, (leaves.start, leaves, 0, root), &mut shown);
        return shown;
    }
    let cutoff = params.leaf_cutoff.max(tree.leaf_cutoff);
    for mesh in tree.tlas {
        let own = mesh.first_triangle..mesh.first_triangle + mesh.triangle_count;
        let is_hidden = mesh.box_min == mesh.box_max;
        if !own.is_empty() && leaves.contains(&own.start) && !is_hidden {
            let root = (own.start, own, 0, (mesh.box_min, mesh.box_max));
            walk(params, tree, cutoff, root, &mut shown);
        }
    }
    shown
}

/// Visits a node and its descendants, and appends their boxes to `shown`. The node is given by its index,
/// leaves, depth and box.
fn walk(
    params: &TreeBoxesParams,
    tree: Trees<'_>,
    cutoff: u32,
    (number, leaves, depth, bounds): (u32, Range<u32>, u32, Corners),
    shown: &mut Vec<TreeBox>,
) {
    if depth > params.last_depth {
        return;
    }
    let is_leaf = leaves.len() as u32 <= cutoff;
    let is_asked_for = match params.leaves_alone {
        1 => is_leaf,
        _ => depth >= params.first_depth,
    };
    let mesh = &tree.triangles[leaves.start as usize];
    let is_hidden = params.over_meshes == 1 && is_leaf && mesh.v0 == mesh.v1;
    if is_asked_for && bounds.0[0] <= bounds.1[0] && !is_hidden {
        shown.push(TreeBox {
            lower: bounds.0,
            depth,
            upper: bounds.1,
            kind: 0,
        });
    }
    if is_leaf {
        return;
    }
    let node = &tree.nodes[number as usize];
    for child in (0..4).filter(|child| !node.leaves(*child).is_empty()) {
        let below = (
            node.child(child),
            node.leaves(child),
            depth + 1,
            child_box(node, child),
        );
        walk(params, tree, cutoff, below, shown);
    }
}

/// Returns the box of a child, in f32.
fn child_box(node: &Node, child: usize) -> Corners {
    let corner = |steps: [u32; 3]| {
        std::array::from_fn(|axis| {
            let step = f32::from_bits((node.exponents >> (8 * axis) & 255) << 23);
            node.origin[axis] + (steps[axis] >> (8 * child) & 255) as f32 * step
        })
    };
    (corner(node.lower), corner(node.upper))
}

/// Returns the box around all children.
fn around(node: &Node) -> Corners {
    let mut all = ([EMPTY_BOX_EXTENT as f32; 3], [-EMPTY_BOX_EXTENT as f32; 3]);
    for (lower, upper) in (0..4).map(|child| child_box(node, child)) {
        if lower[0] <= upper[0] {
            all.0 = std::array::from_fn(|axis| all.0[axis].min(lower[axis]));
            all.1 = std::array::from_fn(|axis| all.1[axis].max(upper[axis]));
        }
    }
    all
}
