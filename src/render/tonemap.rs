//! `tonemap`: radiance, or a channel, to the display.

use super::{Channel, FrameInput, targets::Targets};
use crate::{
    Result,
    gpu::{
        Gpu, Needs,
        layout::TonemapParams,
        pass::{self, Binding, CoverPipelines},
        profiler::Scope,
    },
    scene::bounds::Aabb,
};

/// Nodes and triangles that the hottest colour of the cost view stands for.
pub const COST_SCALE: f32 = 256.0;

/// The pass.
#[derive(Debug)]
pub struct Tonemap {
    layout: wgpu::BindGroupLayout,
    sampler: wgpu::Sampler,
    exposure: wgpu::Buffer,
    pipelines: CoverPipelines,
}

impl Tonemap {
    /// Ready to be compiled, for pictures that are exposed as `exposure` says.
    pub fn new(gpu: &Gpu, exposure: &wgpu::Buffer) -> Self {
        let fragment = wgpu::ShaderStages::FRAGMENT;
        let layout = pass::layout(
            gpu,
            "tonemap",
            &[
                (fragment, Binding::Uniform),
                (fragment, Binding::Filtered),
                (fragment, Binding::Sampler),
                (fragment, Binding::Float),
                (fragment, Binding::Uniform),
                (fragment, Binding::Filtered),
            ],
        );
        Self {
            pipelines: CoverPipelines::new("render/tonemap.wgsl", "tonemap", &layout),
            layout,
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("tonemap"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            exposure: exposure.clone(),
        }
    }

    /// What it compiles for targets of `format`.
    pub fn needs(&mut self, format: wgpu::TextureFormat, needs: &mut Needs) {
        needs.add(self.pipelines.of(format));
    }

    /// Draws to `target`; `scene` places positions and depths in the picture's range.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        input: &FrameInput<'_>,
        scene: Aabb,
        targets: &Targets,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let pipeline = self.pipelines.of(target.texture().format());
        let params = gpu.buffer_with(
            "tonemap.params",
            &[params(input, scene)],
            wgpu::BufferUsages::UNIFORM,
        );
        let resources = [
            params.as_entire_binding(),
            wgpu::BindingResource::TextureView(&targets.hdr.view),
            wgpu::BindingResource::Sampler(&self.sampler),
            wgpu::BindingResource::TextureView(&targets.channel.view),
            self.exposure.as_entire_binding(),
            wgpu::BindingResource::TextureView(&targets.display.view),
        ];
        let group = pass::bind_group(gpu, "tonemap", &self.layout, &resources);
        let mut pass = scope.scoped_render_pass(
            "tonemap",
            wgpu::RenderPassDescriptor {
                label: Some("tonemap"),
                color_attachments: &[Some(pass::color(
                    target,
                    wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                ))],
                ..Default::default()
            },
        );
        pass.set_pipeline(pipeline.get(gpu)?);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
        Ok(())
    }
}

fn params(input: &FrameInput<'_>, scene: Aabb) -> TonemapParams {
    let size = (scene.max - scene.min).max_element().max(1e-20);
    let (offset, scale) = match input.channel {
        Channel::Position => (-(input.buffers.origin + scene.min), 1.0 / size),
        Channel::Normal => (glam::Vec3::ONE, 0.5),
        Channel::Depth => {
            let nearest = ((scene.center() - input.view.eye()).dot(input.view.forward())
                - scene.radius())
            .max(0.0);
            (glam::Vec3::splat(-nearest), 0.5 / scene.radius().max(1e-20))
        }
        Channel::Cost => (glam::Vec3::ZERO, 1.0 / COST_SCALE),
        _ => (glam::Vec3::ZERO, 1.0),
    };
    TonemapParams {
        curve: input.config.image.tonemap as u32,
        channel: u32::from(input.channel != Channel::Lit)
            * Channel::ALL
                .iter()
                .position(|known| *known == input.channel)
                .unwrap_or(0) as u32,
        scale,
        offset: offset.extend(0.0).to_array(),
        ..TonemapParams::default()
    }
}
