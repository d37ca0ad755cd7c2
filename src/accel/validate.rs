//! Checks what must hold of a scene's trees, read back; for tests, tools and doubts.

use super::{
    layout::{ANY_HIT_TEST, BOX_FAR, MeshRange, TlasEntry},
    tree::TreeData,
};
use crate::{Error, Result};

/// What the trees are like.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TreeReport {
    /// Inner nodes of all meshes' trees.
    pub nodes: usize,
    /// Levels of inner nodes of the deepest tree.
    pub depth: u32,
    /// Levels of inner nodes of the TLAS.
    pub tlas_depth: u32,
    /// Cost by the surface area heuristic: expected node visits and triangle tests of a ray that hits the
    /// scene's box (MacDonald and Booth 1990), both at cost 1.
    pub sah_cost: f64,
}

/// Levels that a radix tree can have: a bit of the code or of the leaf's index parts each. Rays test what
/// their stack does not hold as a range.
const DEPTH_LIMIT: u32 = 63 + u32::BITS;

/// Corners of a box.
type Corners = ([f32; 3], [f32; 3]);

const EMPTY: Corners = ([BOX_FAR as f32; 3], [-BOX_FAR as f32; 3]);

fn union(a: Corners, b: Corners) -> Corners {
    (
        std::array::from_fn(|i| a.0[i].min(b.0[i])),
        std::array::from_fn(|i| a.1[i].max(b.1[i])),
    )
}

fn area(b: Corners) -> f64 {
    if b.0[0] > b.1[0] {
        return 0.0;
    }
    let [x, y, z] = std::array::from_fn(|i| f64::from(b.1[i]) - f64::from(b.0[i]));
    2.0 * (x * y + y * z + z * x)
}

impl TreeData {
    /// Checks that every triangle of every mesh occurs once; that children's ranges part their parent's; that
    /// boxes are exactly as large as what they hold; that no tree is deeper than its codes allow.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`], with the first node or leaf at fault.
    pub fn validate(&self, meshes: &[MeshRange]) -> Result<TreeReport> {
        let fault = |what: String| Err(Error::Tree(format!("the tree is broken: {what}")));
        if self.tlas.len() != meshes.len() {
            return fault(format!(
                "{} rows in the TLAS for {} meshes",
                self.tlas.len(),
                meshes.len()
            ));
        }
        let mut report = TreeReport::default();
        let mut area_sum = 0.0;
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
            let whole = self.walk(number as u32, first, count, &mut report, &mut area_sum)?;
            if count > 0 && whole != (entry.box_min, entry.box_max) {
                return fault(format!(
                    "row {number} of the TLAS has the box {:?}, its triangles {whole:?}",
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
        let mut top = TreeReport::default();
        let (number, count) = (meshes.len() as u32, meshes.len() as u32);
        let scene = self.walk(number, triangle_count, count, &mut top, &mut area_sum)?;
        report.tlas_depth = top.depth;
        if area(scene) > 0.0 {
            report.sah_cost = area_sum / area(scene);
        }
        Ok(report)
    }

    /// Walks one mesh's tree, or the TLAS as the mesh behind the last, and returns its box.
    fn walk(
        &self,
        mesh: u32,
        first: u32,
        count: u32,
        report: &mut TreeReport,
        area_sum: &mut f64,
    ) -> Result<Corners> {
        let fault = |what: String| Err(Error::Tree(format!("the tree is broken: {what}")));
        let range_box = |first: u32, last: u32| {
            (first..=last).fold(EMPTY, |b, leaf| union(b, self.leaf_box(leaf)))
        };
        if count < 2 {
            return Ok(if count == 1 {
                range_box(first, first)
            } else {
                EMPTY
            });
        }
        let whole = range_box(first, first + count - 1);
        let mut visited = 0;
        // Node, its range, its depth, and the box that its parent holds for it.
        let mut open = vec![(first, first, first + count - 1, 1, whole)];
        while let Some((index, range_first, range_last, depth, held)) = open.pop() {
            let node = &self.nodes[index as usize];
            visited += 1;
            let inside = node.first <= node.split && node.split < node.last;
            if (node.first, node.last, node.mesh) != (range_first, range_last, mesh) || !inside {
                return fault(format!(
                    "node {index} of mesh {mesh} has {}..={} split at {}, and is the child over \
                     {range_first}..={range_last}",
                    node.first, node.last, node.split
                ));
            }
            let (left, right) = (
                (node.left_min, node.left_max),
                (node.right_min, node.right_max),
            );
            if union(left, right) != held {
                return fault(format!(
                    "node {index} of mesh {mesh} has boxes whose union is not the box its parent holds"
                ));
            }
            if depth > DEPTH_LIMIT {
                return fault(format!(
                    "node {index} of mesh {mesh} is at depth {depth}, and codes and leaf indices have \
                     {DEPTH_LIMIT} bits"
                ));
            }
            report.depth = report.depth.max(depth);
            *area_sum += area(held);
            for (child, child_first, child_last, child_box) in [
                (node.split, node.first, node.split, left),
                (node.split + 1, node.split + 1, node.last, right),
            ] {
                if child_first < child_last {
                    open.push((child, child_first, child_last, depth + 1, child_box));
                } else if child_box != self.leaf_box(child_first) {
                    return fault(format!(
                        "node {index} of mesh {mesh} holds another box for leaf {child_first}"
                    ));
                } else if mesh < self.tlas.len() as u32 {
                    *area_sum += area(child_box);
                }
            }
        }
        if visited != count - 1 {
            return fault(format!(
                "{visited} nodes of mesh {mesh} are reached, of {}",
                count - 1
            ));
        }
        report.nodes += visited as usize;
        Ok(whole)
    }

    /// The box of a leaf; a triangle that no tree holds is a point past all others and has none, like a mesh
    /// without triangles.
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
