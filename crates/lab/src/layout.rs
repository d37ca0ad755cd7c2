//! Memory layouts of structures, for the traversals that read them.

use canopy_scene::bounds::Aabb;
use glam::Vec3;

/// Memory layout of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Binary nodes.
    Binary,
    /// Nodes in depth-first order from left to right, with skip links.
    Skip,
    /// Four-wide nodes.
    Wide,
    /// Cells of a uniform grid.
    Grid,
    /// Cells of a two-level grid.
    TwoLevel,
    /// Splitting planes of a kd-tree.
    KdTree,
}

/// Structure in the layout that a traversal reads.
#[derive(Debug, Clone)]
pub struct StructureData {
    /// Contents of the WGSL array `nodes`.
    pub rows: Vec<[u32; 4]>,
    /// Contents of the WGSL array `links`: parents of binary nodes, or triangle lists of grids and kd-trees.
    pub links: Vec<u32>,
    /// Input triangle of each entry of the WGSL array `triangles`. An entry has three rows.
    pub order: Vec<u32>,
    /// Reference to the root, as `lab/reference.wgsl` encodes it.
    pub root: u32,
    /// Scene bounds. For a grid, its extent.
    pub bounds: Aabb,
    /// Number of cells of a grid along each axis.
    pub cells: [u32; 3],
    /// Bytes of a node, or of a cell without its triangles.
    pub node_bytes: u32,
    /// Number of nodes or cells.
    pub node_count: u32,
    /// Number of levels of inner nodes, which bounds the traversal stack.
    pub levels: u32,
}

impl StructureData {
    /// Sets the size of a node to `bytes` and the number of nodes from the size of `rows`.
    pub(super) fn counts_nodes(&mut self, bytes: u32) {
        self.node_bytes = bytes;
        self.node_count = (size_of_val(self.rows.as_slice()) / bytes as usize) as u32;
    }

    /// Creates a structure without nodes, over triangles in their own order.
    pub(super) fn in_order(bounds: Aabb, cells: [u32; 3], triangles: usize) -> Self {
        Self {
            rows: Vec::new(),
            links: Vec::new(),
            order: (0..triangles as u32).collect(),
            root: 0,
            bounds,
            cells,
            node_bytes: 0,
            node_count: 0,
            levels: 0,
        }
    }

    /// Returns the size of nodes, links and triangles in bytes. A triangle has three rows.
    pub fn bytes(&self) -> u64 {
        let rows = (self.rows.len() + 3 * self.order.len()) * size_of::<[u32; 4]>();
        (rows + 4 * self.links.len()) as u64
    }

    /// Returns half the diagonal of the bounding box.
    pub fn radius(&self) -> f32 {
        0.5 * Vec3::length(self.bounds.max - self.bounds.min)
    }
}
