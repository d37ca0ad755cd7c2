//! `blend_gbuffer`: draws the front-most blended surface of each pixel into a G-buffer, for the rays that the
//! surface casts.

use crate::{
    bindings::{Layouts, SurfacePipeline},
    frame::{life_cycle::LifeCycle, recording::Recording},
    materials::Surface,
    resources::{GBuffer, gbuffer_targets, try_create},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, LazyPipeline,
        pass::{self, PipelineInUse},
    },
};

const LABEL: &str = "blend_gbuffer";

/// Pass that draws the front-most blended surfaces.
#[derive(Debug)]
pub struct BlendGBuffer {
    single_sided: LazyPipeline<wgpu::RenderPipeline>,
    double_sided: LazyPipeline<wgpu::RenderPipeline>,
    output: GBuffer,
}

impl LifeCycle for BlendGBuffer {}

impl BlendGBuffer {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let pipeline = |cull_mode| {
            layouts.surface_pipeline(SurfacePipeline {
                path: "passes/blend_gbuffer.wgsl",
                entry: LABEL,
                targets: gbuffer_targets(gpu),
                cull_mode,
                topology: wgpu::PrimitiveTopology::TriangleList,
                indexed: false,
                // Same depth test as in `blend`.
                depth_compare: wgpu::CompareFunction::GreaterEqual,
                group1: None,
                layered: false,
            })
        };
        Self {
            single_sided: pipeline(Some(wgpu::Face::Back)),
            double_sided: pipeline(None),
            output: GBuffer::new(gpu, [1, 1]),
        }
    }

    fn pipeline(&self, surface: &Surface) -> &LazyPipeline<wgpu::RenderPipeline> {
        match surface.double_sided {
            true => &self.double_sided,
            false => &self.single_sided,
        }
    }

    /// Draws the blended surfaces in front of the surfaces of `gbuffer`. Returns `None` if there are none, or
    /// if they cast no rays.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
    ) -> Result<Option<&GBuffer>> {
        let World { frame, geometry, .. } = world;
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        let shows = |part: usize| !frame.parts[part].is_empty();
        let mut runs = buffers.blended().filter(|(.., part)| shows(*part)).peekable();
        let is_drawn = frame.traces_blended && runs.peek().is_some();
        let size = if is_drawn { frame.size } else { [1, 1] };
        if self.output.size() != size {
            self.output = try_create(gpu, size, || GBuffer::new(gpu, size))?;
        }
        if !is_drawn {
            return Ok(None);
        }
        let [from, to] = [&gbuffer.depth, &self.output.depth];
        recording.scope.copy_texture_to_texture(
            from.texture.as_image_copy(),
            to.texture.as_image_copy(),
            from.texture.size(),
        );
        let clear = wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT);
        let depth = pass::depth(&self.output.depth.view, wgpu::LoadOp::Load);
        let mut pass = recording.scope.scoped_render_pass(
            LABEL,
            wgpu::RenderPassDescriptor {
                label: Some(LABEL),
                color_attachments: &self.output.attachments(clear),
                depth_stencil_attachment: Some(depth),
                ..Default::default()
            },
        );
        pass.set_bind_group(0, &frame.group, &[]);
        pass.set_bind_group(2, geometry.group, &[]);
        let mut pipeline = PipelineInUse::default();
        for (run, surface, _) in runs {
            if !pipeline.set(gpu, &mut pass, self.pipeline(surface))? {
                continue;
            }
            buffers.materials.bind(&mut pass, run.material);
            pass.draw(run.corners(), 0..1);
        }
        drop(pass);
        recording.split(LABEL);
        Ok(Some(&self.output))
    }
}
