//! Checks the invariants of a scene's BVHs after readback. For tests, tools and debugging.

use super::{
    layout::{ANY_HIT_TEST, EMPTY_BOX_EXTENT, MeshRange, NODE_SLACK, Node, STACK_SIZE, TlasEntry},
    tree::TreeData,
};
use crate::{Error, Result};

/// Summary of valid trees.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TreeReport {
    /// Number of nodes in all meshes' trees.
    pub nodes: usize,
    /// Number of node levels in the deepest tree.
    pub depth: u32,
    /// Number of node levels in the TLAS.
    pub tlas_depth: u32,
    /// Cost by the surface area heuristic (MacDonald and Booth 1990): the expected node visits and triangle
    /// tests, each at cost 1, of a ray that hits the scene's box. Leaves are as large as the cutoff allows.
    pub sah_cost: f64,
}

/// Maximum number of levels of a radix tree, in which each level is split by a bit of the code or of the
/// leaf's index. Other trees have fewer levels. Rays test all triangles of ranges that exceed their stack.
const DEPTH_LIMIT: u32 = 63 + u32::BITS;

/// Lower and upper corner of a box.
type Corners = ([f32; 3], [f32; 3]);

const EMPTY: Corners = ([EMPTY_BOX_EXTENT as f32; 3], [-EMPTY_BOX_EXTENT as f32; 3]);

fn union(a: Corners, b: Corners) -> Corners {
    (
        std::array::from_fn(|i| a.0[i].min(b.0[i])),
        std::array::from_fn(|i| a.1[i].max(b.1[i])),
    )
}

/// True if a child's quantised box contains `exact` with slack, and exceeds it by no more than a step.
fn is_tight(node: &Node, child: usize, exact: Corners) -> bool {
    let Some((lower, upper)) = node.child_box(child) else {
        return exact == EMPTY;
    };
    let slack = NODE_SLACK / 2.0..1.0 + 2.0 * NODE_SLACK;
    (0..3).all(|axis| {
        let step = f64::from(f32::from_bits((node.exponents >> (8 * axis) & 255) << 23));
        let below = (f64::from(exact.0[axis]) - lower[axis]) / step;
        let above = (upper[axis] - f64::from(exact.1[axis])) / step;
        slack.contains(&below) && slack.contains(&above)
    })
}

impl TreeData {
    /// Checks that every triangle of every mesh occurs once and that children partition their parent's range.
    /// Boxes must contain their children, exceed them by no more than a grid step, and no tree may be deeper
    /// than its codes allow.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`] with the first node or leaf at fault.
    pub fn validate(&self, meshes: &[MeshRange]) -> Result<TreeReport> {
        let fault = |what: String| Err(Error::Tree(format!("the tree is broken: {what}")));
        if self.tlas.len() != meshes.len() {
            return fault(format!(
                "{} rows in the TLAS for {} meshes",
                self.tlas.len(),
                meshes.len()
            ));
        }
        for (number, (mesh, entry)) in meshes.iter().zip(&self.tlas).enumerate() {
            let (first, count) = (mesh.first_triangle, mesh.triangle_count);
            let row = (
                entry.first_triangle,
                entry.triangle_count,
                entry.node_offset,
                entry.node_count,
                entry.vertex_offset,
                entry.index_offset,
            );
            if row
                != (
                    first,
                    count,
                    first,
                    count.saturating_sub(1),
                    mesh.first_vertex,
                    3 * first,
                )
            {
                return fault(format!("row {number} of the TLAS is {row:?}"));
            }
            let mut seen = vec![false; count as usize];
            for index in first..first + count {
                let leaf = &self.triangles[index as usize];
                let Some(seen) = leaf
                    .triangle
                    .checked_sub(first)
                    .and_then(|local| seen.get_mut(local as usize))
                else {
                    return fault(format!(
                        "leaf {index} of mesh {number} holds triangle {}",
                        leaf.triangle
                    ));
                };
                if std::mem::replace(seen, true) || leaf.mesh & !ANY_HIT_TEST != number as u32 {
                    return fault(format!(
                        "triangle {} of mesh {number} occurs twice or under another mesh",
                        leaf.triangle
                    ));
                }
            }
            let whole = self.walk(number as u32, first, count)?;
            if count > 0 && whole != (entry.box_min, entry.box_max) {
                return fault(format!(
                    "row {number} of the TLAS stores the box {:?}, but the bounds of its triangles are {whole:?}",
                    (entry.box_min, entry.box_max)
                ));
            }
        }
        let triangle_count = meshes
            .last()
            .map_or(0, |mesh| mesh.first_triangle + mesh.triangle_count);
        let mut seen = vec![false; meshes.len()];
        for index in triangle_count..triangle_count + meshes.len() as u32 {
            let leaf = &self.triangles[index as usize];
            let entry = self.tlas.get(leaf.mesh as usize);
            let same = |entry: &TlasEntry| {
                (leaf.v0, leaf.v1, leaf.triangle, leaf.payload)
                    == (
                        entry.box_min,
                        entry.box_max,
                        entry.first_triangle,
                        entry.triangle_count,
                    )
            };
            if !entry.is_some_and(same) || std::mem::replace(&mut seen[leaf.mesh as usize], true) {
                return fault(format!("leaf {index} of the TLAS holds mesh {}", leaf.mesh));
            }
        }
        let (number, count) = (meshes.len() as u32, meshes.len() as u32);
        self.walk(number, triangle_count, count)?;
        let figures = self.statistics(self.leaf_cutoff);
        if count > STACK_SIZE && 3 * figures.tlas_depth > STACK_SIZE {
            return fault(format!(
                "the TLAS has {} levels, whose entries do not fit into a stack of {STACK_SIZE}",
                figures.tlas_depth
            ));
        }
        Ok(TreeReport {
            nodes: figures.nodes as usize,
            depth: figures.depth,
            tlas_depth: figures.tlas_depth,
            sah_cost: figures.sah_cost,
        })
    }

    /// Traverses one mesh's tree, or the TLAS if `mesh` is the mesh count, and returns its box.
    fn walk(&self, mesh: u32, first: u32, count: u32) -> Result<Corners> {
        let fault = |what: String| Err(Error::Tree(format!("the tree is broken: {what}")));
        let is_tlas = mesh == self.tlas.len() as u32;
        let cutoff = if is_tlas { 1 } else { self.leaf_cutoff };
        if count <= cutoff {
            let whole = (first..first + count).map(|leaf| self.leaf_box(leaf));
            let whole = whole.fold(EMPTY, union);
            return Ok(whole);
        }
        // Node indices, parents before their children.
        let mut visited = Vec::new();
        // Node index, leaf range and depth.
        let mut open = vec![(first, first..first + count, 1)];
        while let Some((index, leaves, depth)) = open.pop() {
            let node = &self.nodes[index as usize];
            visited.push(index);
            let mut at = leaves.start;
            let mut parts = 0;
            for child in 0..4 {
                let part = node.leaves(child);
                if part.start != at || part.end < at {
                    parts = 0;
                    break;
                }
                at = part.end;
                parts += u32::from(!part.is_empty());
                if part.len() > cutoff as usize && part != leaves {
                    open.push((node.child(child), part, depth + 1));
                }
            }
            let present = self.node_areas[index as usize] >= 0.0;
            if (at, node.mesh, present) != (leaves.end, mesh, true) || parts < 2 {
                return fault(format!(
                    "node {index} of mesh {mesh} splits its leaves from {} at {:?}, but its parent gives it \
                     {leaves:?}",
                    node.first, node.ends
                ));
            }
            if depth > DEPTH_LIMIT {
                return fault(format!(
                    "node {index} of mesh {mesh} is at depth {depth}, deeper than {DEPTH_LIMIT}"
                ));
            }
        }
        // Children are visited before their parents.
        let mut exact = vec![EMPTY; count as usize];
        for index in visited.iter().rev() {
            let node = &self.nodes[*index as usize];
            let mut whole = EMPTY;
            for child in 0..4 {
                let leaves = node.leaves(child);
                let is_leaf = leaves.len() <= cutoff as usize;
                let held = if is_leaf {
                    leaves.clone().map(|leaf| self.leaf_box(leaf)).fold(EMPTY, union)
                } else {
                    exact[(node.child(child) - first) as usize]
                };
                if !is_tight(node, child, held) {
                    return fault(format!(
                        "node {index} of mesh {mesh} stores the box {:?} for child {child}, but the child's exact \
                         bounds are {held:?}",
                        node.child_box(child)
                    ));
                }
                whole = union(whole, held);
            }
            exact[(*index - first) as usize] = whole;
        }
        Ok(exact[0])
    }

    /// Returns the box of a leaf. A triangle that no tree can hold is stored as a point beyond all others and
    /// has an empty box, like a mesh without triangles.
    fn leaf_box(&self, index: u32) -> Corners {
        let leaf = &self.triangles[index as usize];
        let corners = [leaf.v0, leaf.v1, leaf.v2];
        if leaf.v0 == EMPTY.0 {
            return EMPTY;
        }
        let of = |start, pick: fn(f32, f32) -> f32| {
            std::array::from_fn(|axis| corners.iter().map(|v| v[axis]).fold(start, pick))
        };
        (of(f32::INFINITY, f32::min), of(f32::NEG_INFINITY, f32::max))
    }
}
