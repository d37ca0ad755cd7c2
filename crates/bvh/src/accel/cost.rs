//! `cost`: the expected cost of rays through the trees, measured on the GPU, so that trees that are only
//! refitted are rebuilt in time.

use super::{layout::COST_BLOCK, tree::Tree};
use crate::{
    Result,
    gpu::{
        Gpu, Kernel, Needs, Recorder, Workgroups,
        pass::Binding::{Read, Uniform, Write},
    },
};

/// The stage.
#[derive(Debug)]
pub struct Cost {
    nodes: Kernel,
    total: Kernel,
}

/// The buffers that a tree's cost is summed up in.
#[derive(Debug)]
pub struct TreeCost {
    /// Two `f32`: the sum of the surface areas of all binary nodes of more leaves than the cutoff, those of the
    /// TLAS among them, and the area of the root.
    pub result: wgpu::Buffer,
    group: wgpu::BindGroup,
}

impl Cost {
    /// The stage, compiled when it is first needed.
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

    /// Adds its kernels to what has to be compiled.
    pub fn needs(&self, needs: &mut Needs) {
        self.nodes.needs(needs);
        self.total.needs(needs);
    }

    /// The buffers for the cost of `tree`.
    pub fn room(&self, gpu: &Gpu, tree: &Tree) -> TreeCost {
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

    /// Sums up the cost of the tree as it stands.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernels, where they were not compiled before.
    pub fn record(&self, gpu: &Gpu, recorder: &mut impl Recorder, cost: &TreeCost) -> Result<()> {
        let mut pass = recorder.scoped_compute_pass("cost");
        for (kernel, workgroups) in [(&self.nodes, COST_BLOCK), (&self.total, 1)] {
            let workgroups = Workgroups::Count(workgroups);
            kernel.dispatch_bound(gpu, &mut pass, &[], &cost.group, workgroups)?;
        }
        Ok(())
    }
}
