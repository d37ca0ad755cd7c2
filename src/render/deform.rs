//! `deform`: skins and morph targets into the merged world-space buffers.

use super::scene_buffers::SceneBuffers;
use crate::{
    Result,
    gpu::{Gpu, pass, profiler::Scope},
};

/// The pass.
#[derive(Debug)]
pub struct Deform {
    pipeline: wgpu::ComputePipeline,
}

impl Deform {
    /// Compiles it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self {
            pipeline: pass::compute_pipeline(gpu, "render/deform.wgsl", "deform")?,
        })
    }

    /// The layout of its bind group.
    pub fn layout(&self) -> wgpu::BindGroupLayout {
        self.pipeline.get_bind_group_layout(0)
    }

    /// Deforms every vertex of `buffers` by the pose that was written to them.
    pub fn record(&self, scope: &mut Scope<'_>, buffers: &SceneBuffers) {
        let mut pass = scope.scoped_compute_pass("deform");
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &buffers.deform_group, &[]);
        pass::dispatch(&mut pass, buffers.vertex_count.div_ceil(256));
    }
}
