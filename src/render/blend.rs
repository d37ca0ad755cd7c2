//! `blend`: alpha-blended surfaces over the lit image, back to front.

use super::{
    FrameInput,
    bindings::Layouts,
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
    /// Far sides, drawn before near ones where a material is double-sided.
    back_faces: wgpu::RenderPipeline,
    front_faces: wgpu::RenderPipeline,
}

impl Blend {
    /// Compiles it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let module = shader::module(gpu, "render/blend.wgsl")?;
        let target = wgpu::ColorTargetState {
            format: HDR_FORMAT,
            blend: Some(wgpu::BlendState::ALPHA_BLENDING),
            write_mask: wgpu::ColorWrites::ALL,
        };
        let pipeline = |cull| {
            layouts.merged_pipeline(
                gpu,
                &module,
                "blend",
                &[Some(target.clone())],
                Some(cull),
                true,
            )
        };
        Ok(Self {
            back_faces: pipeline(wgpu::Face::Front)?,
            front_faces: pipeline(wgpu::Face::Back)?,
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
            pass.set_bind_group(3, &buffers.materials.groups[run.material], &[]);
            if buffers.materials.double_sided[run.material] {
                pass.set_pipeline(&self.back_faces);
                pass.draw(run.corners(), 0..1);
            }
            pass.set_pipeline(&self.front_faces);
            pass.draw(run.corners(), 0..1);
        }
    }
}
