//! `gbuffer`: opaque and masked surfaces into the G-buffer.

use super::{
    bindings::{Layouts, Merged},
    materials::Surface,
    scene_buffers::SceneBuffers,
    targets::{GBUFFER_FORMATS, Targets},
};
use crate::{
    Result,
    gpu::{Gpu, Needs, OnDemand, pass, profiler::Scope},
};

/// The pass. Only masked surfaces have a `discard` in their shader: without one, depth is tested before anything is shaded.
#[derive(Debug)]
pub struct GBuffer {
    opaque: Sides,
    masked: Sides,
}

/// A pipeline for single-sided surfaces, whose back faces are culled, and one for double-sided ones.
#[derive(Debug)]
struct Sides {
    single: OnDemand<wgpu::RenderPipeline>,
    double: OnDemand<wgpu::RenderPipeline>,
}

impl GBuffer {
    /// Ready to be compiled.
    pub fn new(layouts: &Layouts) -> Self {
        let pipeline = |entry, cull_mode| {
            layouts.merged_on_demand(Merged {
                path: "render/gbuffer.wgsl",
                entry,
                targets: GBUFFER_FORMATS.map(Into::into).into(),
                cull_mode,
                topology: wgpu::PrimitiveTopology::TriangleList,
                depth_compare: wgpu::CompareFunction::Greater,
                asks: None,
                layered: false,
            })
        };
        let sides = |entry| Sides {
            single: pipeline(entry, Some(wgpu::Face::Back)),
            double: pipeline(entry, None),
        };
        Self {
            opaque: sides("gbuffer"),
            masked: sides("gbuffer_masked"),
        }
    }

    /// What it compiles for `buffers`.
    pub fn needs(&self, buffers: &SceneBuffers, needs: &mut Needs) {
        for run in &buffers.solid {
            needs.add(self.pipeline(&buffers.materials.surfaces[run.material]));
        }
    }

    fn pipeline(&self, surface: &Surface) -> &OnDemand<wgpu::RenderPipeline> {
        let sides = if surface.masked {
            &self.masked
        } else {
            &self.opaque
        };
        if surface.double_sided {
            &sides.double
        } else {
            &sides.single
        }
    }

    /// Draws the scene into `targets`.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        targets: &Targets,
    ) -> Result<()> {
        let color_attachments =
            targets.gbuffer_colors(wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT));
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
            let surface = &buffers.materials.surfaces[run.material];
            pass.set_pipeline(self.pipeline(surface).get(gpu)?);
            buffers.materials.bind(&mut pass, run.material);
            pass.draw(run.corners(), 0..1);
        }
        Ok(())
    }
}
