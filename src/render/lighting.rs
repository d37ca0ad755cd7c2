//! `lighting`: the G-buffer to radiance.

use super::{
    bindings::Layouts,
    occlusion::Occlusion,
    targets::{HDR_FORMAT, Targets},
};
use crate::{
    Result,
    gpu::{
        Gpu,
        pass::{self, Binding},
        profiler::Scope,
        shader,
    },
};

/// The pass.
#[derive(Debug)]
pub struct Lighting {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
}

impl Lighting {
    /// Compiles it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let layout = pass::compute_layout(
            gpu,
            "lighting",
            &[
                Binding::Float,
                Binding::Uint,
                Binding::Uint,
                Binding::Uint,
                Binding::Read,
                Binding::Read,
                Binding::Store(HDR_FORMAT),
            ],
        );
        let module = shader::module(gpu, "render/lighting.wgsl")?;
        let pipeline = pass::compute_pipeline_with(
            gpu,
            &module,
            "lighting",
            Some(&[&layouts.frame, &layout]),
        )?;
        Ok(Self { pipeline, layout })
    }

    /// Lights `targets`.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        targets: &Targets,
        occlusion: &Occlusion,
    ) {
        let views = [
            &targets.position,
            &targets.normal,
            &targets.albedo,
            &targets.emissive,
        ];
        let mut resources: Vec<_> = views
            .map(|target| wgpu::BindingResource::TextureView(&target.view))
            .into();
        resources.push(targets.shadow_words.as_entire_binding());
        resources.push(occlusion.words.as_entire_binding());
        resources.push(wgpu::BindingResource::TextureView(&targets.hdr.view));
        let group = pass::bind_group(gpu, "lighting", &self.layout, &resources);
        let mut pass = scope.scoped_compute_pass("lighting");
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.dispatch_workgroups(targets.size[0].div_ceil(8), targets.size[1].div_ceil(8), 1);
    }
}
