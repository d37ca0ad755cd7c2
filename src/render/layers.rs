//! `layers`: surfaces whose materials have layers, lit where the G-buffer shows them.

use super::{
    bindings::{Layouts, Merged},
    materials::Surface,
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
use wgpu::ShaderStages;

/// The pass.
#[derive(Debug)]
pub struct LayersPass {
    single_sided: OnDemand<wgpu::RenderPipeline>,
    double_sided: OnDemand<wgpu::RenderPipeline>,
    layout: wgpu::BindGroupLayout,
}

impl LayersPass {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let layout = pass::layout(
            gpu,
            "layers",
            &[
                (ShaderStages::FRAGMENT, Binding::Uint),
                (ShaderStages::FRAGMENT, Binding::Read),
                (ShaderStages::FRAGMENT, Binding::Read),
            ],
        );
        let pipeline = |cull_mode| {
            layouts.merged_on_demand(Merged {
                path: "render/layers.wgsl",
                entry: "layers",
                targets: vec![HDR_FORMAT.into()],
                cull_mode,
                topology: wgpu::PrimitiveTopology::TriangleList,
                // Where they are what the G-buffer shows.
                depth_compare: wgpu::CompareFunction::Equal,
                asks: Some(layout.clone()),
                layered: true,
            })
        };
        Self {
            single_sided: pipeline(Some(wgpu::Face::Back)),
            double_sided: pipeline(None),
            layout,
        }
    }

    /// What it compiles for `buffers`.
    pub fn needs(&self, buffers: &SceneBuffers, needs: &mut Needs) {
        let surfaces = &buffers.materials.surfaces;
        let runs = buffers.solid.iter().map(|run| &surfaces[run.material]);
        for surface in runs.filter(|surface| surface.layered) {
            needs.add(self.pipeline(surface));
        }
    }

    fn pipeline(&self, surface: &Surface) -> &OnDemand<wgpu::RenderPipeline> {
        if surface.double_sided {
            &self.double_sided
        } else {
            &self.single_sided
        }
    }

    /// Lights what `lighting` has left.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        (targets, occlusion): (&Targets, &Occlusion),
    ) -> Result<()> {
        let asks = [
            wgpu::BindingResource::TextureView(&targets.ids.view),
            targets.shadow_words.as_entire_binding(),
            occlusion.words.as_entire_binding(),
        ];
        let asks = pass::bind_group(gpu, "layers", &self.layout, &asks);
        let mut pass = scope.scoped_render_pass(
            "layers",
            wgpu::RenderPassDescriptor {
                label: Some("layers"),
                color_attachments: &[Some(pass::color(&targets.hdr.view, wgpu::LoadOp::Load))],
                depth_stencil_attachment: Some(pass::depth(
                    &targets.depth.view,
                    wgpu::LoadOp::Load,
                )),
                ..Default::default()
            },
        );
        for (index, group) in [frame, &asks, &buffers.scene_group].into_iter().enumerate() {
            pass.set_bind_group(index as u32, group, &[]);
        }
        for run in &buffers.solid {
            let surface = &buffers.materials.surfaces[run.material];
            if !surface.layered {
                continue;
            }
            pass.set_pipeline(self.pipeline(surface).get(gpu)?);
            buffers.materials.bind_layers(&mut pass, run.material);
            pass.draw(run.corners(), 0..1);
        }
        Ok(())
    }
}
