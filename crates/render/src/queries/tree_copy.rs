//! Asynchronous readback of the BVH nodes.

use super::copied::PendingCopy;
use canopy_bvh::{
    Result,
    accel::{
        Tree, TreeStatistics,
        figures::statistics,
        layout::{Node, TlasEntry},
    },
    gpu::Gpu,
};

/// Pending copy of a scene's nodes.
#[derive(Debug)]
pub struct TreeCopy {
    copied: PendingCopy,
    tlas_bytes: usize,
    node_bytes: usize,
    leaf_cutoff: u32,
}

impl TreeCopy {
    /// Records the copies of the TLAS entries and of the BVH nodes.
    pub(crate) fn record(gpu: &Gpu, encoder: &mut wgpu::CommandEncoder, tree: &Tree) -> Result<Self> {
        let tlas_bytes = tree.mesh_count() as usize * size_of::<TlasEntry>();
        let nodes = (tree.triangle_count() + tree.mesh_count()) as usize;
        let node_bytes = nodes * size_of::<Node>();
        let parts = [
            (&tree.tlas, tlas_bytes as u64),
            (tree.nodes.buffer(), node_bytes as u64),
        ];
        Ok(Self {
            copied: PendingCopy::record(gpu, encoder, "nodes of the trees", &parts)?,
            tlas_bytes,
            node_bytes,
            leaf_cutoff: tree.leaf_cutoff(),
        })
    }

    /// Requests the mapping of the staging buffer. Call it after the submission.
    pub fn map(&self) {
        self.copied.map();
    }

    /// True if the copy has arrived or has failed. Poll the device meanwhile.
    pub fn is_done(&self) -> bool {
        self.copied.is_done()
    }

    /// Computes statistics of the BVHs for rays that test up to `leaf_cutoff` triangles without further
    /// traversal. It takes a while.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](canopy_bvh::Error::Gpu) if the nodes have not arrived.
    pub fn statistics(&self, leaf_cutoff: u32) -> Result<TreeStatistics> {
        self.copied.read(|bytes| {
            let (tlas, nodes) = bytes.split_at(self.tlas_bytes);
            let tlas: Vec<TlasEntry> = bytemuck::pod_collect_to_vec(tlas);
            let nodes: Vec<Node> = bytemuck::pod_collect_to_vec(&nodes[..self.node_bytes]);
            statistics(&tlas, &nodes, leaf_cutoff.max(self.leaf_cutoff))
        })
    }
}
