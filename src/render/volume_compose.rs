//! `volume_compose`: what the eye sees of a volume, over the picture.

use super::{
    edges::{HDR_FORMAT, Radiance},
    recording::Recording,
};
use crate::{
    Result,
    gpu::{
        Gpu, GpuImage, Needs, OnDemand, bind_group,
        pass::{self, Binding},
        shader,
    },
};
use wgpu::ShaderStages;

/// Its name among the timings of a frame.
pub const LABEL: &str = "volume_compose";

/// The pass.
#[derive(Debug)]
pub struct VolumeCompose {
    pipeline: OnDemand<wgpu::RenderPipeline>,
    layout: wgpu::BindGroupLayout,
}

impl VolumeCompose {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [(ShaderStages::FRAGMENT, Binding::Float)];
        let layout = pass::layout(gpu, LABEL, &bindings);
        let own = layout.clone();
        let pipeline = OnDemand::new(LABEL, move |gpu| pipeline(gpu, &own));
        Self { pipeline, layout }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        needs.add(&self.pipeline);
    }

    /// Lays what is `seen` of a volume over `radiance`.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        seen: &GpuImage,
        radiance: &Radiance,
    ) -> Result<()> {
        let gpu = recording.gpu;
        let group = bind_group(gpu, LABEL, &self.layout, &[seen]);
        let views = [&radiance.hdr.view, &radiance.display.view];
        let mut pass = recording.scope.scoped_render_pass(
            LABEL,
            wgpu::RenderPassDescriptor {
                label: Some(LABEL),
                color_attachments: &views.map(|view| Some(pass::color(view, wgpu::LoadOp::Load))),
                ..Default::default()
            },
        );
        pass.set_pipeline(self.pipeline.get(gpu)?);
        pass.set_bind_group(0, &group, &[]);
        pass.draw(0..3, 0..1);
        drop(pass);
        recording.split(LABEL);
        Ok(())
    }
}

fn pipeline(gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> Result<wgpu::RenderPipeline> {
    let module = shader::module(gpu, "render/volume_compose.wgsl")?;
    let layout = pass::pipeline_layout(gpu, LABEL, &[Some(layout)]);
    // The same for both, as not all adapters can tell targets apart.
    let target = wgpu::ColorTargetState {
        format: HDR_FORMAT,
        blend: Some(wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING),
        write_mask: wgpu::ColorWrites::ALL,
    };
    gpu.catch(|| {
        gpu.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(LABEL),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("cover"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(LABEL),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[Some(target.clone()), Some(target)],
                }),
                multiview_mask: None,
                cache: gpu.pipeline_cache(),
            })
    })
}
