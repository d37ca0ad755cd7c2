//! `gbuffer`: draws opaque and masked surfaces into the G-buffer.

use super::{draw_lists::slices, frustum::Frustum};
use crate::{
    bindings::{Layouts, SurfacePipeline},
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    materials::Surface,
    resources::{GBuffer, gbuffer_targets, try_create},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, LazyPipeline, PipelineSet,
        pass::{self, PipelineInUse},
    },
};

/// G-buffer pass. Only the shader of masked surfaces has a `discard`. Without one, early depth testing avoids
/// shading hidden fragments.
#[derive(Debug)]
pub struct GBufferPass {
    /// True if draws are indexed.
    indexed: bool,
    opaque: Sides,
    masked: Sides,
    output: GBuffer,
}

/// Pipelines for single-sided surfaces, with back-face culling, and for double-sided ones.
#[derive(Debug)]
struct Sides {
    single: LazyPipeline<wgpu::RenderPipeline>,
    double: LazyPipeline<wgpu::RenderPipeline>,
}

impl LifeCycle for GBufferPass {}

impl GBufferPass {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let indexed = gpu.capabilities.indexed_draws;
        let (path, opaque, masked) = if indexed {
            let path = "passes/gbuffer_indexed.wgsl";
            (path, "gbuffer_indexed", "gbuffer_indexed_masked")
        } else {
            ("passes/gbuffer.wgsl", "gbuffer", "gbuffer_masked")
        };
        let pipeline = |entry, cull_mode| {
            layouts.surface_pipeline(SurfacePipeline {
                path,
                entry,
                targets: gbuffer_targets(gpu),
                cull_mode,
                topology: wgpu::PrimitiveTopology::TriangleList,
                indexed,
                depth_compare: wgpu::CompareFunction::Greater,
                group1: None,
                layered: false,
            })
        };
        let sides = |entry| Sides {
            single: pipeline(entry, Some(wgpu::Face::Back)),
            double: pipeline(entry, None),
        };
        Self {
            indexed,
            opaque: sides(opaque),
            masked: sides(masked),
            output: GBuffer::new(gpu, [1, 1]),
        }
    }

    fn pipeline(&self, surface: &Surface) -> &LazyPipeline<wgpu::RenderPipeline> {
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

    /// Draws the parts of the scene that may be in view, one part of the frame after another.
    pub fn record(&mut self, recording: &mut Recording<'_>, world: World<'_>) -> Result<&GBuffer> {
        let World { frame, geometry, .. } = world;
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        if self.output.size() != frame.size {
            self.output = try_create(gpu, frame.size, || GBuffer::new(gpu, frame.size))?;
        }
        let clears = (
            wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
            wgpu::LoadOp::Clear(0.0),
        );
        let keeps = (wgpu::LoadOp::Load, wgpu::LoadOp::Load);
        let frustum = Frustum::new(&frame.view, frame.clip_from_offset());
        let seen = buffers.draws.surfaces_of(frame.traces_reflections, |part| {
            frustum.may_see(frame.parts[part])
        });
        let slices = slices(&seen, recording.budget.triangles());
        for (index, slice) in slices.iter().enumerate() {
            let (color, depth) = if index == 0 { clears } else { keeps };
            let color_attachments = self.output.attachments(color);
            let depth = pass::depth(&self.output.depth.view, depth);
            let mut pass = recording.scope.scoped_render_pass(
                "gbuffer",
                wgpu::RenderPassDescriptor {
                    label: Some("gbuffer"),
                    color_attachments: &color_attachments,
                    depth_stencil_attachment: Some(depth),
                    ..Default::default()
                },
            );
            pass.set_bind_group(0, &frame.group, &[]);
            pass.set_bind_group(2, geometry.group, &[]);
            if self.indexed {
                let (positions, frames) = (buffers.positions.buffer(), buffers.frames.buffer());
                let merged = [positions, frames, &buffers.vertices];
                for (slot, buffer) in (0..).zip(merged) {
                    pass.set_vertex_buffer(slot, buffer.slice(..));
                }
                pass.set_index_buffer(buffers.indices.buffer().slice(..), wgpu::IndexFormat::Uint32);
            }
            let mut pipeline = PipelineInUse::default();
            for run in slice {
                let surface = &buffers.materials.surfaces[run.material];
                if !pipeline.set(gpu, &mut pass, self.pipeline(surface))? {
                    continue;
                }
                buffers.materials.bind(&mut pass, run.material);
                if self.indexed {
                    let first = run.first_triangle;
                    pass.draw_indexed(run.corners(), 0, first..first + 1);
                } else {
                    pass.draw(run.corners(), 0..1);
                }
            }
            drop(pass);
            recording.split("gbuffer");
        }
        Ok(&self.output)
    }

    /// Returns the G-buffer of the last frame.
    pub fn output(&self) -> &GBuffer {
        &self.output
    }

    /// Adds the pipelines of all surfaces of a scene, in view or not.
    pub fn add_pipelines(&self, frame: &Frame<'_>, set: &mut PipelineSet) {
        let buffers = frame.buffers;
        for run in buffers.draws.surfaces(frame.traces_reflections) {
            set.add(self.pipeline(&buffers.materials.surfaces[run.material]));
        }
    }
}
