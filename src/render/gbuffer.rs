//! `gbuffer`: opaque and masked surfaces into the G-buffer.

use super::{
    bindings::Layouts,
    scene_buffers::SceneBuffers,
    targets::{DEPTH_FORMAT, GBUFFER_FORMATS, Targets},
};
use crate::{
    Result,
    gpu::{Gpu, pass, profiler::Scope, shader},
};

/// The pass.
#[derive(Debug)]
pub struct GBuffer {
    /// Single-sided: back faces are culled.
    single_sided: wgpu::RenderPipeline,
    double_sided: wgpu::RenderPipeline,
}

impl GBuffer {
    /// Compiles it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let module = shader::module(gpu, "render/gbuffer.wgsl")?;
        let targets = GBUFFER_FORMATS.map(|format| Some(format.into()));
        let pipeline = |cull_mode| {
            merged_pipeline(gpu, &module, "gbuffer", layouts, &targets, cull_mode, false)
        };
        Ok(Self {
            single_sided: pipeline(Some(wgpu::Face::Back))?,
            double_sided: pipeline(None)?,
        })
    }

    /// Draws the scene into `targets`.
    pub fn record(
        &self,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        targets: &Targets,
    ) {
        let views = [
            &targets.position,
            &targets.normal,
            &targets.albedo,
            &targets.emissive,
            &targets.ids,
        ];
        let color_attachments = views.map(|target| {
            Some(pass::color(
                &target.view,
                wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
            ))
        });
        let mut pass = scope.scoped_render_pass(
            "gbuffer",
            wgpu::RenderPassDescriptor {
                label: Some("gbuffer"),
                color_attachments: &color_attachments,
                depth_stencil_attachment: Some(pass::depth(
                    &targets.depth.view,
                    wgpu::LoadOp::Clear(0.0),
                )),
                ..Default::default()
            },
        );
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(2, &buffers.scene_group, &[]);
        for run in &buffers.solid {
            let double_sided = buffers.materials.double_sided[run.material];
            pass.set_pipeline(if double_sided {
                &self.double_sided
            } else {
                &self.single_sided
            });
            pass.set_bind_group(3, &buffers.materials.groups[run.material], &[]);
            pass.draw(run.corners(), 0..1);
        }
    }
}

/// A pipeline over the merged scene with the vertex shader of common/material.wgsl. With `rays` its fragments may trace, and it leaves
/// depth as it is.
pub(super) fn merged_pipeline(
    gpu: &Gpu,
    module: &wgpu::ShaderModule,
    entry: &str,
    layouts: &Layouts,
    targets: &[Option<wgpu::ColorTargetState>],
    cull_mode: Option<wgpu::Face>,
    rays: bool,
) -> Result<wgpu::RenderPipeline> {
    // The G-buffer's fragments send no rays: it has no tree bound.
    let tree = rays.then_some(&layouts.tree);
    let layout = gpu
        .device
        .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(entry),
            bind_group_layouts: &[
                Some(&layouts.frame),
                tree,
                Some(&layouts.scene),
                Some(&layouts.material),
            ],
            immediate_size: 0,
        });
    gpu.catch(|| {
        gpu.device
            .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(entry),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module,
                    entry_point: Some("merged_vertex"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers: &[],
                },
                primitive: wgpu::PrimitiveState {
                    cull_mode,
                    ..Default::default()
                },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH_FORMAT,
                    depth_write_enabled: Some(!rays),
                    depth_compare: Some(wgpu::CompareFunction::GreaterEqual),
                    stencil: wgpu::StencilState::default(),
                    bias: wgpu::DepthBiasState::default(),
                }),
                multisample: wgpu::MultisampleState::default(),
                fragment: Some(wgpu::FragmentState {
                    module,
                    entry_point: Some(entry),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets,
                }),
                multiview_mask: None,
                cache: None,
            })
    })
}
