//! The nodes of the trees, read back without a wait.

use crate::{
    Error, Result,
    accel::{
        Tree, TreeFigures,
        figures::figures,
        layout::{Node, TlasEntry},
    },
    gpu::Gpu,
};
use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

const PENDING: u32 = 0;
const READY: u32 = 1;
const FAILED: u32 = 2;

/// A copy of a scene's nodes that is under way.
#[derive(Debug)]
pub struct TreeCopy {
    staging: wgpu::Buffer,
    tlas_bytes: u64,
    node_bytes: u64,
    leaf_cutoff: u32,
    state: Arc<AtomicU32>,
}

impl TreeCopy {
    /// Records the copy.
    pub(super) fn record(
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        tree: &Tree,
    ) -> Result<Self> {
        let count = |count: u32, size: usize| u64::from(count) * size as u64;
        let tlas_bytes = count(tree.mesh_count(), size_of::<TlasEntry>());
        let nodes = tree.triangle_count() + tree.mesh_count();
        let node_bytes = count(nodes, size_of::<Node>());
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let bytes = tlas_bytes + node_bytes;
        let staging = gpu.catch(|| gpu.buffer("tree_copy", bytes, usage))?;
        for (buffer, to, bytes) in [
            (&tree.tlas, 0, tlas_bytes),
            (tree.nodes.buffer(), tlas_bytes, node_bytes),
        ] {
            if bytes > 0 {
                encoder.copy_buffer_to_buffer(buffer, 0, &staging, to, bytes);
            }
        }
        Ok(Self {
            staging,
            tlas_bytes,
            node_bytes,
            leaf_cutoff: tree.leaf_cutoff(),
            state: Arc::default(),
        })
    }

    /// Asks for the copy, once it has been submitted.
    pub fn map(&self) {
        let state = self.state.clone();
        let told = move |result: std::result::Result<(), wgpu::BufferAsyncError>| {
            let arrived = if result.is_ok() { READY } else { FAILED };
            state.store(arrived, Ordering::Release);
        };
        self.staging.slice(..).map_async(wgpu::MapMode::Read, told);
    }

    /// Whether it has arrived, or never will. The device has to be polled meanwhile.
    pub fn is_done(&self) -> bool {
        self.state.load(Ordering::Acquire) != PENDING
    }

    /// What the trees are like for rays that test up to `leaf_cutoff` triangles as a whole. It takes a while.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] where the nodes have not arrived.
    pub fn figures(&self, leaf_cutoff: u32) -> Result<TreeFigures> {
        let missing = || Error::Gpu("the trees could not be read back".into());
        if self.state.load(Ordering::Acquire) != READY {
            return Err(missing());
        }
        let mapped = self.staging.slice(..).get_mapped_range();
        let mapped = mapped.map_err(|_| missing())?;
        let (tlas, nodes) = mapped.split_at(self.tlas_bytes as usize);
        let tlas: Vec<TlasEntry> = bytemuck::pod_collect_to_vec(tlas);
        let nodes: Vec<Node> = bytemuck::pod_collect_to_vec(&nodes[..self.node_bytes as usize]);
        Ok(figures(&tlas, &nodes, leaf_cutoff.max(self.leaf_cutoff)))
    }
}
