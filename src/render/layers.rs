//! `layers`: surfaces whose materials have layers, lit where the G-buffer shows them.

use super::{
    bindings::{Layouts, Merged},
    occlusion::Occlusion,
    scene_buffers::SceneBuffers,
    targets::{HDR_FORMAT, Targets},
};
use crate::{
    Result,
    gpu::{
        Gpu,
        pass::{self, Binding},
        profiler::Scope,
        shader,
    },
};
use wgpu::ShaderStages;

/// The pass.
#[derive(Debug)]
pub struct LayersPass {
    single_sided: wgpu::RenderPipeline,
    double_sided: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
}

impl LayersPass {
    /// Compiles it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let layout = pass::layout(
            gpu,
            "layers",
            &[
                (ShaderStages::FRAGMENT, Binding::Uint),
                (ShaderStages::FRAGMENT, Binding::Read),
                (ShaderStages::FRAGMENT, Binding::Read),
            ],
        );
        let module = shader::module(gpu, "render/layers.wgsl")?;
        let pipeline = |cull_mode| {
            let merged = Merged {
                module: &module,
                entry: "layers",
                targets: &[Some(HDR_FORMAT.into())],
                cull_mode,
                asks: Some(&layout),
                layered: true,
            };
            layouts.merged_pipeline(gpu, &merged)
        };
        Ok(Self {
            single_sided: pipeline(Some(wgpu::Face::Back))?,
            double_sided: pipeline(None)?,
            layout,
        })
    }

    /// Lights what `lighting` has left.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        (targets, occlusion): (&Targets, &Occlusion),
    ) {
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
            let Some(group) = &buffers.materials.layers[run.material] else {
                continue;
            };
            pass.set_pipeline(if buffers.materials.double_sided[run.material] {
                &self.double_sided
            } else {
                &self.single_sided
            });
            pass.set_bind_group(3, group, &[]);
            pass.draw(run.corners(), 0..1);
        }
    }
}
