//! `cost`: how much rays have to expect of trees, measured on the GPU, so that a tree that only follows its triangles is regrown in time.

use super::Tree;
use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand,
        layout::COST_BLOCK,
        pass::{self, Binding::Write},
        profiler::Scope,
    },
};

/// The stage.
#[derive(Debug)]
pub struct Cost {
    nodes: OnDemand<wgpu::ComputePipeline>,
    total: OnDemand<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
    tree: wgpu::BindGroupLayout,
}

/// What a tree's cost is summed up in.
#[derive(Debug)]
pub struct TreeCost {
    /// Two `f32`: the sum of the surface areas of all inner nodes, those of the TLAS among them, and the area of the root.
    pub result: wgpu::Buffer,
    group: wgpu::BindGroup,
    tree: wgpu::BindGroup,
}

impl Cost {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let layout = pass::compute_layout(gpu, "cost", &[Write, Write]);
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let pipeline = |entry| pass::compute_on_demand("accel/cost.wgsl", entry, &[&layout, &tree]);
        Self {
            nodes: pipeline("cost_nodes"),
            total: pipeline("cost_total"),
            layout,
            tree,
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.nodes);
        needs.add(&self.total);
    }

    /// Room for the cost of `tree`.
    pub fn room(&self, gpu: &Gpu, tree: &Tree) -> TreeCost {
        let storage = wgpu::BufferUsages::STORAGE;
        let threads = u64::from(COST_BLOCK * COST_BLOCK);
        let partials = gpu.buffer("cost.partials", 4 * threads, storage);
        let usage = storage | wgpu::BufferUsages::COPY_SRC;
        let result = gpu.buffer("cost.result", 8, usage);
        let resources = [&partials, &result].map(wgpu::Buffer::as_entire_binding);
        TreeCost {
            group: pass::bind_group(gpu, "cost", &self.layout, &resources),
            tree: tree.bind_group(gpu, &self.tree),
            result,
        }
    }

    /// Sums up the cost of the tree as it stands.
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>, cost: &TreeCost) -> Result<()> {
        let mut pass = scope.scoped_compute_pass("cost");
        pass.set_bind_group(0, &cost.group, &[]);
        pass.set_bind_group(1, &cost.tree, &[]);
        pass.set_pipeline(self.nodes.get(gpu)?);
        pass::dispatch(&mut pass, COST_BLOCK);
        pass.set_pipeline(self.total.get(gpu)?);
        pass::dispatch(&mut pass, 1);
        Ok(())
    }
}
