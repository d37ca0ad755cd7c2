//! `lighting`: the G-buffer to radiance.

use super::{
    bindings::Layouts,
    occlusion::Occlusion,
    scene_buffers::SceneBuffers,
    targets::{HDR_FORMAT, Targets},
};
use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand,
        pass::{self, Binding},
        profiler::Scope,
    },
};

/// The pass.
#[derive(Debug)]
pub struct Lighting {
    pipeline: OnDemand<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
}

impl Lighting {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
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
                Binding::Store(HDR_FORMAT),
                Binding::Uint,
            ],
        );
        let layouts = [&layouts.frame, &layout, &layouts.scene];
        Self {
            pipeline: pass::compute_on_demand("render/lighting.wgsl", "lighting", &layouts),
            layout,
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.pipeline);
    }

    /// Lights `targets`.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        (targets, occlusion): (&Targets, &Occlusion),
    ) -> Result<()> {
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
        resources.push(wgpu::BindingResource::TextureView(&targets.display.view));
        resources.push(wgpu::BindingResource::TextureView(&targets.ids.view));
        let group = pass::bind_group(gpu, "lighting", &self.layout, &resources);
        let mut pass = scope.scoped_compute_pass("lighting");
        pass.set_pipeline(self.pipeline.get(gpu)?);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.set_bind_group(2, &buffers.scene_group, &[]);
        pass.dispatch_workgroups(targets.size[0].div_ceil(8), targets.size[1].div_ceil(8), 1);
        Ok(())
    }
}
