//! `gbuffer`: opaque and masked surfaces into the G-buffer.

use super::{
    bindings::{Layouts, Merged},
    scene_buffers::SceneBuffers,
    targets::{GBUFFER_FORMATS, Targets},
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
            let merged = Merged {
                module: &module,
                entry: "gbuffer",
                targets: &targets,
                cull_mode,
                asks: None,
                layered: false,
            };
            layouts.merged_pipeline(gpu, &merged)
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
