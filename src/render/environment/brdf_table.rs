//! `brdf_table`: what rough surfaces reflect of white light from everywhere, as a table for common/brdf_table.wgsl.

use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand,
        layout::BRDF_TABLE_PAIRS,
        pass::{self, Binding},
        profiler::Scope,
    },
};
use wgpu::BufferUsages as Buffer;

/// The pass, with its table.
#[derive(Debug)]
pub struct BrdfTable {
    pipeline: OnDemand<wgpu::ComputePipeline>,
    group: wgpu::BindGroup,
    /// Two entries to a `vec4f`, to be bound as the uniform `brdf_table`.
    pub buffer: wgpu::Buffer,
}

impl BrdfTable {
    /// Ready to be compiled; the table is empty.
    pub fn new(gpu: &Gpu) -> Self {
        let path = "render/environment/brdf_table.wgsl";
        let layout = pass::compute_layout(gpu, "brdf_table", &[Binding::Write]);
        let usage = Buffer::STORAGE | Buffer::UNIFORM | Buffer::COPY_SRC;
        let buffer = gpu.buffer("brdf_table", 16 * u64::from(BRDF_TABLE_PAIRS), usage);
        let resources = [buffer.as_entire_binding()];
        Self {
            pipeline: pass::compute_on_demand(path, "brdf_table_pass", &[&layout]),
            group: pass::bind_group(gpu, "brdf_table", &layout, &resources),
            buffer,
        }
    }

    /// Fills the table. It depends on nothing, so once will do.
    pub fn record(&self, gpu: &Gpu, scope: &mut Scope<'_>) -> Result<()> {
        let mut pass = scope.scoped_compute_pass("brdf_table");
        pass.set_pipeline(self.pipeline.get(gpu)?);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(BRDF_TABLE_PAIRS.div_ceil(32), 1, 1);
        Ok(())
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.pipeline);
    }
}
