//! `cost`: measures the expected cost of rays through the BVHs on the GPU. Compare it over time to decide
//! when trees that are only refitted need a rebuild.

use super::{layout::COST_BLOCK, tree::Tree};
use crate::{
    Result,
    gpu::{
        Gpu, Kernel, PipelineSet, Recorder, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};

/// GPU measurement of a tree's expected ray cost.
#[derive(Debug)]
pub struct Cost {
    nodes: Kernel,
    total: Kernel,
}

/// Buffers for the cost of one tree.
#[derive(Debug)]
pub struct TreeCost {
    /// Two `f32`: the summed surface area of all binary nodes with more leaves than the cutoff, including
    /// nodes of the TLAS, and the area of the root.
    pub result: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl Cost {
    /// Creates the stage. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        let kernel = |entry| {
            let bindings = [Write, Write, Uniform, Read];
            Kernel::new(gpu, "bvh/build/cost.wgsl", entry, &[], &bindings)
        };
        Self {
            nodes: kernel("cost_nodes"),
            total: kernel("cost_total"),
        }
    }

    /// Adds its kernels to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.nodes.pipelines(set);
        self.total.pipelines(set);
    }

    /// Creates the buffers for the cost of `tree`.
    pub fn buffers(&self, gpu: &Gpu, tree: &Tree) -> TreeCost {
        let storage = wgpu::BufferUsages::STORAGE;
        let threads = u64::from(COST_BLOCK * COST_BLOCK);
        let partials = gpu.buffer("cost.partials", 4 * threads, storage);
        let usage = storage | wgpu::BufferUsages::COPY_SRC;
        let result = gpu.buffer("cost.result", 8, usage);
        TreeCost {
            // Both kernels have the same bindings.
            group: self
                .nodes
                .bind(gpu, &[&partials, &result, &tree.info, &tree.scratch]),
            result,
        }
    }

    /// Records the cost of the tree in its current state.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernels were not compiled before.
    pub fn record(&self, gpu: &Gpu, recorder: &mut impl Recorder, cost: &TreeCost) -> Result<()> {
        let mut pass = recorder.scoped_compute_pass("cost");
        for (kernel, workgroups) in [(&self.nodes, COST_BLOCK), (&self.total, 1)] {
            let workgroups = Workgroups::Count(workgroups);
            kernel.dispatch_bound(gpu, &mut pass, &[], &cost.group, workgroups)?;
        }
        Ok(())
    }
}
