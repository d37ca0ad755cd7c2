//! `channel`: one channel of the frame as floats, for AOVs and debug views.

use super::{
    Channel, bindings::Layouts, occlusion::Occlusion, scene_buffers::SceneBuffers, targets::Targets,
};
use crate::{
    Result,
    gpu::{
        Gpu, Needs, OnDemand,
        layout::ChannelParams,
        pass::{self, Binding},
        profiler::Scope,
    },
};

/// The pass.
#[derive(Debug)]
pub struct ChannelPass {
    pipeline: OnDemand<wgpu::ComputePipeline>,
    layout: wgpu::BindGroupLayout,
}

impl ChannelPass {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let layout = pass::compute_layout(
            gpu,
            "channel",
            &[
                Binding::Float,
                Binding::Uint,
                Binding::Uint,
                Binding::Uint,
                Binding::Uint,
                Binding::Float,
                Binding::Read,
                Binding::Read,
                Binding::Read,
                Binding::Uniform,
                Binding::Store(wgpu::TextureFormat::Rgba32Float),
                Binding::Float,
            ],
        );
        let layouts = [&layouts.frame, &layout];
        Self {
            pipeline: pass::compute_on_demand("render/channel.wgsl", "channel", &layouts),
            layout,
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.pipeline);
    }

    /// Writes `channel` into its target.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        channel: Channel,
        buffers: &SceneBuffers,
        (targets, occlusion): (&Targets, &Occlusion),
    ) -> Result<()> {
        let number = Channel::ALL
            .iter()
            .position(|known| *known == channel)
            .unwrap_or(0);
        let params = ChannelParams {
            origin: buffers.origin.to_array(),
            channel: number as u32,
            nan: f32::NAN,
            ..ChannelParams::default()
        };
        let params = gpu.buffer_with("channel.params", &[params], wgpu::BufferUsages::UNIFORM);
        let views = [
            &targets.position,
            &targets.normal,
            &targets.albedo,
            &targets.emissive,
            &targets.ids,
            &targets.hdr,
        ];
        let mut resources: Vec<_> = views
            .map(|target| wgpu::BindingResource::TextureView(&target.view))
            .into();
        resources.push(targets.shadow_words.as_entire_binding());
        resources.push(buffers.triangle_info.as_entire_binding());
        resources.push(occlusion.words.as_entire_binding());
        resources.push(params.as_entire_binding());
        resources.push(wgpu::BindingResource::TextureView(&targets.channel.view));
        resources.push(wgpu::BindingResource::TextureView(&targets.display.view));
        let group = pass::bind_group(gpu, "channel", &self.layout, &resources);
        let mut pass = scope.scoped_compute_pass("channel");
        pass.set_pipeline(self.pipeline.get(gpu)?);
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(1, &group, &[]);
        pass.dispatch_workgroups(targets.size[0].div_ceil(8), targets.size[1].div_ceil(8), 1);
        Ok(())
    }
}
