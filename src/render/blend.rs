//! `blend`: alpha-blended and transmissive surfaces over the lit image, back to front.

use super::{
    FrameInput,
    bindings::{Layouts, Merged},
    scene_buffers::Run,
    targets::{HDR_FORMAT, Targets},
};
use crate::{
    Result,
    gpu::{Gpu, pass, profiler::Scope, shader},
    scene::bounds::Aabb,
};

/// The pass.
#[derive(Debug)]
pub struct Blend {
    plain: Sides,
    /// For materials with layers: what dims the things behind, and what is added to them.
    behind: Sides,
    layers: Sides,
}

/// A pipeline for each side.
#[derive(Debug)]
struct Sides {
    /// Far sides, drawn before near ones where a material is double-sided.
    back: wgpu::RenderPipeline,
    front: wgpu::RenderPipeline,
}

impl Blend {
    /// Compiles it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        use wgpu::BlendFactor::{One, OneMinusSrcAlpha, Src, Zero};
        let module = shader::module(gpu, "render/blend.wgsl")?;
        let sides = |entry, layered, blend| -> Result<Sides> {
            let targets = [Some(wgpu::ColorTargetState {
                format: HDR_FORMAT,
                blend: Some(blend),
                write_mask: wgpu::ColorWrites::ALL,
            })];
            let pipeline = |cull| {
                let merged = Merged {
                    module: &module,
                    entry,
                    targets: &targets,
                    cull_mode: Some(cull),
                    asks: Some(&layouts.tree),
                    layered,
                };
                layouts.merged_pipeline(gpu, &merged)
            };
            Ok(Sides {
                back: pipeline(wgpu::Face::Front)?,
                front: pipeline(wgpu::Face::Back)?,
            })
        };
        let component = |src_factor, dst_factor| wgpu::BlendComponent {
            src_factor,
            dst_factor,
            operation: wgpu::BlendOperation::Add,
        };
        let multiplied = wgpu::BlendState {
            color: component(Zero, Src),
            alpha: component(Zero, One),
        };
        let added = wgpu::BlendState {
            color: component(One, One),
            alpha: component(One, OneMinusSrcAlpha),
        };
        Ok(Self {
            plain: sides("blend", false, wgpu::BlendState::ALPHA_BLENDING)?,
            behind: sides("blend_behind", true, multiplied)?,
            layers: sides("blend_layers", true, added)?,
        })
    }

    /// Draws the blended parts of the scene, the farthest first; `parts` are the boxes of all parts.
    pub fn record(
        &self,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        input: &FrameInput<'_>,
        parts: &[Aabb],
        targets: &Targets,
    ) {
        let buffers = input.buffers;
        let shows = |(_, part): &&(Run, usize)| !parts[*part].is_empty();
        let mut order: Vec<_> = buffers.blended.iter().filter(shows).collect();
        let distance =
            |part: usize| (parts[part].center() - input.view.eye()).dot(input.view.forward());
        order.sort_by(|(_, a), (_, b)| distance(*b).total_cmp(&distance(*a)));
        let mut pass = scope.scoped_render_pass(
            "blend",
            wgpu::RenderPassDescriptor {
                label: Some("blend"),
                color_attachments: &[Some(pass::color(&targets.hdr.view, wgpu::LoadOp::Load))],
                depth_stencil_attachment: Some(pass::depth(
                    &targets.depth.view,
                    wgpu::LoadOp::Load,
                )),
                ..Default::default()
            },
        );
        for (index, group) in [frame, &buffers.tree_group, &buffers.scene_group]
            .into_iter()
            .enumerate()
        {
            pass.set_bind_group(index as u32, group, &[]);
        }
        for (run, _) in order {
            let materials = &buffers.materials;
            let (group, steps) = match &materials.layers[run.material] {
                Some(layers) => (layers, &[&self.behind, &self.layers][..]),
                None => (&materials.groups[run.material], &[&self.plain][..]),
            };
            pass.set_bind_group(3, group, &[]);
            if materials.double_sided[run.material] {
                for sides in steps {
                    pass.set_pipeline(&sides.back);
                    pass.draw(run.corners(), 0..1);
                }
            }
            for sides in steps {
                pass.set_pipeline(&sides.front);
                pass.draw(run.corners(), 0..1);
            }
        }
    }
}
