//! How structures lie in memory, for the walks that read them.

use canopy_scene::bounds::Aabb;
use glam::Vec3;

/// How nodes lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Two children a node.
    Binary,
    /// In the order of a walk from left to right.
    Skip,
    /// Four children a node.
    Wide,
    /// Cells.
    Grid,
    /// Cells of cells.
    TwoLevel,
    /// Planes.
    KdTree,
}

/// A structure in the form that a walk reads.
#[derive(Debug, Clone)]
pub struct Built {
    /// Rows of `nodes` in WGSL.
    pub rows: Vec<[u32; 4]>,
    /// `links` in WGSL.
    pub links: Vec<u32>,
    /// The triangle behind each number that walks hand to tests.
    pub order: Vec<u32>,
    /// Where walks begin.
    pub root: u32,
    /// Of all triangles; of a grid, what its cells divide.
    pub bounds: Aabb,
    /// Cells of a grid.
    pub cells: [u32; 3],
    /// Bytes of a node, or of a cell without its triangles.
    pub node_bytes: u32,
    /// Nodes, or cells.
    pub node_count: u32,
    /// Levels of nodes.
    pub levels: u32,
}

impl Built {
    /// Its rows are nodes of so many bytes.
    pub(super) fn counts_nodes(&mut self, bytes: u32) {
        self.node_bytes = bytes;
        self.node_count = (size_of_val(self.rows.as_slice()) / bytes as usize) as u32;
    }

    /// Without nodes, over triangles in their own order.
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

    /// Bytes of nodes, links and triangles, which have three rows each.
    pub fn bytes(&self) -> u64 {
        let rows = (self.rows.len() + 3 * self.order.len()) * size_of::<[u32; 4]>();
        (rows + 4 * self.links.len()) as u64
    }

    /// Half the diagonal of its box.
    pub fn radius(&self) -> f32 {
        0.5 * Vec3::length(self.bounds.max - self.bounds.min)
    }
}
