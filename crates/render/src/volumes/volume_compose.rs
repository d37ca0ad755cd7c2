//! `volume_compose`: composes a marched volume over the picture and over the volumes beyond it.

use crate::{
    frame::recording::Recording,
    resources::{HDR_FORMAT, Radiance, try_create},
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, LazyPipeline, bind_group,
        pass::{self, Binding},
        shader,
    },
};
use wgpu::{ShaderStages, TextureUsages as Usage, TextureView};

/// Label of the pass in frame timings.
pub const LABEL: &str = "volume_compose";
const TOTAL: &str = "volume_total";

/// Pipelines of the pass and the composed total.
#[derive(Debug)]
pub struct VolumeCompose {
    pipeline: LazyPipeline<wgpu::RenderPipeline>,
    of_total: LazyPipeline<wgpu::RenderPipeline>,
    layout: wgpu::BindGroupLayout,
    total: GpuImage,
}

impl VolumeCompose {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu) -> Self {
        let bindings = [(ShaderStages::FRAGMENT, Binding::Float)];
        let layout = pass::layout(gpu, LABEL, &bindings);
        let lazy_pipeline = |entry, blend, targets| {
            let layout = layout.clone();
            LazyPipeline::new(entry, move |gpu| pipeline(gpu, &layout, entry, blend, targets))
        };
        use wgpu::BlendFactor::{One, SrcAlpha, Zero};
        let component = |src_factor| wgpu::BlendComponent {
            src_factor,
            dst_factor: SrcAlpha,
            operation: wgpu::BlendOperation::Add,
        };
        // Transmittances are multiplied, so small ones are as precise as large ones.
        let behind = wgpu::BlendState {
            color: component(One),
            alpha: component(Zero),
        };
        Self {
            // The states of both targets are equal, because not all adapters support different blend states
            // for each target.
            pipeline: lazy_pipeline(LABEL, wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING, 2),
            of_total: lazy_pipeline(TOTAL, behind, 1),
            layout,
            total: image(gpu, [1, 1]),
        }
    }

    /// Composes the volume `seen` over `radiance`.
    pub fn record(
        &self,
        recording: &mut Recording<'_>,
        seen: &TextureView,
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
        if let Some(pipeline) = self.pipeline.get_or_collect(gpu)? {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        }
        drop(pass);
        recording.split(LABEL);
        Ok(())
    }

    /// Allocates the total of all volumes, or frees it.
    pub fn fit_total(&mut self, gpu: &Gpu, size: Option<[u32; 2]>) -> Result<()> {
        let size = size.unwrap_or([1, 1]);
        if self.total.size() != size {
            self.total = try_create(gpu, size, || image(gpu, size))?;
        }
        Ok(())
    }

    /// Composes the volume `seen` over the composed volumes beyond it. The first volume clears the total.
    pub fn add(&self, recording: &mut Recording<'_>, seen: &TextureView, is_first: bool) -> Result<()> {
        let gpu = recording.gpu;
        let group = bind_group(gpu, TOTAL, &self.layout, &[seen]);
        let load = match is_first {
            true => wgpu::LoadOp::Clear(wgpu::Color::BLACK),
            false => wgpu::LoadOp::Load,
        };
        let mut pass = recording.scope.scoped_render_pass(
            TOTAL,
            wgpu::RenderPassDescriptor {
                label: Some(TOTAL),
                color_attachments: &[Some(pass::color(&self.total.view, load))],
                ..Default::default()
            },
        );
        if let Some(pipeline) = self.of_total.get_or_collect(gpu)? {
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.draw(0..3, 0..1);
        }
        Ok(())
    }

    /// Returns the scattered and emitted radiance of all volumes of the last frame, with their transmittance.
    pub fn total(&self) -> &GpuImage {
        &self.total
    }
}

fn image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::RENDER_ATTACHMENT | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, TOTAL, size, HDR_FORMAT, usage)
}

fn pipeline(
    gpu: &Gpu,
    layout: &wgpu::BindGroupLayout,
    entry: &'static str,
    blend: wgpu::BlendState,
    targets: usize,
) -> Result<wgpu::RenderPipeline> {
    let module = shader::module(gpu, "volume/volume_compose.wgsl")?;
    let layout = pass::pipeline_layout(gpu, entry, &[Some(layout)]);
    let target = wgpu::ColorTargetState {
        format: HDR_FORMAT,
        blend: Some(blend),
        write_mask: wgpu::ColorWrites::ALL,
    };
    gpu.catch(|| {
        gpu.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(entry),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("fullscreen"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState::default(),
                depth_stencil: None,
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some(entry),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &vec![Some(target); targets],
                }),
                multiview_mask: None,
                cache: gpu.pipeline_cache(),
            })
    })
}
