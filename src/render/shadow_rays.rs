//! `shadow_rays`: one shadow ray per pixel and light, through the trees.

use super::{bindings::Layouts, scene_buffers::SceneBuffers, targets::Targets};
use crate::{
    Result,
    gpu::{
        Gpu,
        pass::{self, Binding},
        profiler::Scope,
        readback::Counter,
        shader,
    },
};

/// The pass.
#[derive(Debug)]
pub struct ShadowRays {
    pipeline: wgpu::ComputePipeline,
    layout: wgpu::BindGroupLayout,
    /// Rays sent by the last frame whose count has come back.
    pub ray_count: Counter,
}

impl ShadowRays {
    /// Compiles it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let r32uint = wgpu::TextureFormat::R32Uint;
        let layout = pass::compute_layout(
            gpu,
            "shadow_rays",
            &[
                Binding::Float,
                Binding::Uint,
                Binding::Uint,
                Binding::StoreArray(r32uint),
                Binding::Store(r32uint),
                Binding::Write,
            ],
        );
        let module = shader::module(gpu, "render/shadow_rays.wgsl")?;
        let layouts = [&layouts.frame, &layouts.tree, &layouts.scene, &layout];
        let pipeline = pass::compute_pipeline_with(gpu, &module, "shadow_rays", Some(&layouts))?;
        Ok(Self {
            pipeline,
            layout,
            ray_count: Counter::new(gpu, "shadow_rays.ray_count"),
        })
    }

    /// Traces the G-buffer's pixels; `targets` take visibility and cost.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        targets: &Targets,
    ) {
        scope.clear_buffer(self.ray_count.buffer(), 0, None);
        let views = [
            &targets.position,
            &targets.normal,
            &targets.ids,
            &targets.visibility,
            &targets.cost,
        ];
        let mut resources: Vec<_> = views
            .map(|target| wgpu::BindingResource::TextureView(&target.view))
            .into();
        resources.push(self.ray_count.buffer().as_entire_binding());
        let group = pass::bind_group(gpu, "shadow_rays", &self.layout, &resources);
        {
            let mut pass = scope.scoped_compute_pass("shadow_rays");
            pass.set_pipeline(&self.pipeline);
            for (index, group) in [frame, &buffers.tree_group, &buffers.scene_group, &group]
                .into_iter()
                .enumerate()
            {
                pass.set_bind_group(index as u32, group, &[]);
            }
            pass.dispatch_workgroups(targets.size[0].div_ceil(8), targets.size[1].div_ceil(8), 1);
        }
        self.ray_count.record(scope);
    }
}
