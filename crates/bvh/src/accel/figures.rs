//! Statistics of BVHs: the depth and size of their leaves, and the expected cost of a ray.

use super::{
    layout::{Node, TlasEntry},
    tree::TreeData,
};
use glam::DVec3;
use std::ops::Range;

/// Statistics of the tree over one mesh.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeshStatistics {
    /// Number of triangles.
    pub triangles: u32,
    /// Number of nodes that a ray may visit.
    pub nodes: u32,
    /// Number of leaves: triangle ranges that are tested without further traversal.
    pub leaves: u32,
    /// Number of node levels.
    pub depth: u32,
    /// Cost of a ray that hits the mesh's box, by the surface area heuristic. 0 if the box has no area.
    pub sah_cost: f64,
    /// Contribution of the mesh to [`TreeStatistics::sah_cost`].
    pub sah_share: f64,
}

/// Statistics of the trees of a scene.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeStatistics {
    /// Number of nodes in all meshes' trees.
    pub nodes: u32,
    /// Number of leaves at each depth. The root has depth 0.
    pub leaves_at_depth: Vec<u32>,
    /// Number of leaves of each size, indexed by triangle count.
    pub leaves_of_size: Vec<u32>,
    /// Number of node levels in the deepest tree.
    pub depth: u32,
    /// Number of nodes in the TLAS.
    pub tlas_nodes: u32,
    /// Number of node levels in the TLAS.
    pub tlas_depth: u32,
    /// Cost by the surface area heuristic (MacDonald and Booth 1990): the expected node visits and triangle
    /// tests, each at cost 1, of a ray that hits the scene's box.
    pub sah_cost: f64,
    /// Statistics of each mesh, in the order of the meshes.
    pub meshes: Vec<MeshStatistics>,
}

impl TreeStatistics {
    /// Returns the number of leaves in all meshes' trees.
    pub fn leaves(&self) -> u32 {
        self.leaves_at_depth.iter().sum()
    }
}

impl TreeData {
    /// Computes the statistics for rays that test up to `leaf_cutoff` triangles without further traversal.
    pub fn statistics(&self, leaf_cutoff: u32) -> TreeStatistics {
        statistics(&self.tlas, &self.nodes, leaf_cutoff.max(self.leaf_cutoff))
    }
}

/// Computes the statistics like [`TreeData::statistics`], from rows and nodes that were read back. The cutoff
/// must not be below the build's cutoff.
pub fn statistics(tlas: &[TlasEntry], nodes: &[Node], leaf_cutoff: u32) -> TreeStatistics {
    let mut all = TreeStatistics::default();
    let mut areas = Vec::new();
    for mesh in tlas {
        let leaves = mesh.first_triangle..mesh.first_triangle + mesh.triangle_count;
        let whole = [mesh.box_min, mesh.box_max].map(|corner| DVec3::from(corner.map(f64::from)));
        let root_area = match leaves.len() as u32 {
            0 => 0.0,
            count if count <= leaf_cutoff => area(whole.into()),
            _ => nodes.get(leaves.start as usize).map_or(0.0, node_area),
        };
        let mut walk = Walk {
            nodes,
            leaf_cutoff,
            whole_area: root_area,
            is_tlas: false,
            at_depth: &mut all.leaves_at_depth,
            of_size: &mut all.leaves_of_size,
            found: MeshStatistics {
                triangles: mesh.triangle_count,
                ..MeshStatistics::default()
            },
            area_sum: 0.0,
        };
        walk.run(leaves);
        let (mut found, area_sum) = (walk.found, walk.area_sum);
        if root_area > 0.0 {
            found.sah_cost = area_sum / root_area;
        }
        all.nodes += found.nodes;
        all.depth = all.depth.max(found.depth);
        areas.push((area_sum, root_area));
        all.meshes.push(found);
    }
    let last = tlas.last();
    let first = last.map_or(0, |mesh| mesh.first_triangle + mesh.triangle_count);
    let mut top = Walk {
        nodes,
        leaf_cutoff: 1,
        whole_area: 0.0,
        is_tlas: true,
        at_depth: &mut Vec::new(),
        of_size: &mut Vec::new(),
        found: MeshStatistics::default(),
        area_sum: 0.0,
    };
    top.run(first..first + tlas.len() as u32);
    (all.tlas_nodes, all.tlas_depth) = (top.found.nodes, top.found.depth);
    // The TLAS of a single mesh has no nodes, so the mesh's root is the root of the scene.
    let scene_area = match &areas[..] {
        [] => 0.0,
        [(_, only)] => *only,
        _ => nodes.get(first as usize).map_or(0.0, node_area),
    };
    if scene_area > 0.0 {
        for (mesh, (area_sum, _)) in all.meshes.iter_mut().zip(&areas) {
            mesh.sah_share = area_sum / scene_area;
        }
        let sum: f64 = areas.iter().map(|(area_sum, _)| area_sum).sum();
        all.sah_cost = (sum + top.area_sum) / scene_area;
    }
    all
}

/// State of the traversal of one tree, with the statistics so far.
struct Walk<'a> {
    nodes: &'a [Node],
    leaf_cutoff: u32,
    /// Surface area of the box of a tree that is a single leaf.
    whole_area: f64,
    is_tlas: bool,
    at_depth: &'a mut Vec<u32>,
    of_size: &'a mut Vec<u32>,
    found: MeshStatistics,
    /// Sum of the node areas, and of the leaf areas times their triangle counts.
    area_sum: f64,
}

impl Walk<'_> {
    fn run(&mut self, leaves: Range<u32>) {
        let count = leaves.len() as u32;
        if count == 0 {
            return;
        }
        if count <= self.leaf_cutoff {
            self.leaf(count, 0, self.whole_area);
            return;
        }
        // Node index, leaf range and depth. A tree has fewer nodes than leaves, so the traversal of a broken
        // tree ends too.
        let mut open = vec![(leaves.start, leaves, 0)];
        while let Some((number, leaves, depth)) = open.pop() {
            let Some(node) = self.nodes.get(number as usize) else {
                continue;
            };
            if self.found.nodes == count {
                return;
            }
            self.found.nodes += 1;
            self.found.depth = self.found.depth.max(depth + 1);
            self.area_sum += node_area(node);
            for child in 0..4 {
                let part = node.leaves(child);
                match part.len() as u32 {
                    0 => {}
                    size if size > self.leaf_cutoff => {
                        if part != leaves {
                            open.push((node.child(child), part, depth + 1));
                        }
                    }
                    size => {
                        let area = node.child_box(child).map_or(0.0, area);
                        self.leaf(size, depth + 1, area);
                    }
                }
            }
        }
    }

    fn leaf(&mut self, size: u32, depth: u32, area: f64) {
        // Leaves of the TLAS are trees, which are counted separately.
        if self.is_tlas {
            return;
        }
        self.found.leaves += 1;
        count_at(self.at_depth, depth);
        count_at(self.of_size, size);
        self.area_sum += f64::from(size) * area;
    }
}

fn count_at(counts: &mut Vec<u32>, place: u32) {
    let place = place as usize;
    if counts.len() <= place {
        counts.resize(place + 1, 0);
    }
    counts[place] += 1;
}

fn area((lower, upper): (DVec3, DVec3)) -> f64 {
    let extent = (upper - lower).max(DVec3::ZERO);
    2.0 * extent.dot(DVec3::new(extent.y, extent.z, extent.x))
}

/// Returns the surface area of the box around a node's children.
fn node_area(node: &Node) -> f64 {
    let boxes = (0..4).filter_map(|child| node.child_box(child));
    let around = boxes.reduce(|(a, b), (c, d)| (a.min(c), b.max(d)));
    around.map_or(0.0, area)
}
