//! `cost`: how much rays have to expect of trees, measured on the GPU, so that a tree that only follows its triangles is regrown in time.

use super::Tree;
use crate::{
    Result,
    gpu::{
        Gpu,
        layout::COST_BLOCK,
        pass::{self, Binding::Write},
        profiler::Scope,
        shader,
    },
};

/// The stage.
#[derive(Debug)]
pub struct Cost {
    nodes: wgpu::ComputePipeline,
    total: wgpu::ComputePipeline,
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
    /// Compiles it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let module = shader::module(gpu, "accel/cost.wgsl")?;
        let layout = pass::compute_layout(gpu, "cost", &[Write, Write]);
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let pipeline =
            |entry| pass::compute_pipeline_with(gpu, &module, entry, Some(&[&layout, &tree]));
        Ok(Self {
            nodes: pipeline("cost_nodes")?,
            total: pipeline("cost_total")?,
            layout,
            tree,
        })
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
    pub fn record(&self, scope: &mut Scope<'_>, cost: &TreeCost) {
        let mut pass = scope.scoped_compute_pass("cost");
        pass.set_bind_group(0, &cost.group, &[]);
        pass.set_bind_group(1, &cost.tree, &[]);
        pass.set_pipeline(&self.nodes);
        pass::dispatch(&mut pass, COST_BLOCK);
        pass.set_pipeline(&self.total);
        pass::dispatch(&mut pass, 1);
    }
}
