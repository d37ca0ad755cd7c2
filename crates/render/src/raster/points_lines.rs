//! `points_lines`: draws opaque and masked points and lines into the G-buffer, over the triangles.

use super::segments::{self, SegmentPipelines};
use crate::{
    bindings::{Layouts, SurfacePipeline},
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    resources::{GBuffer, gbuffer_targets},
    world::World,
};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, PipelineSet,
        pass::{self, PipelineInUse},
    },
};

/// Pass for points and lines.
#[derive(Debug)]
pub struct PointsLines {
    pipelines: SegmentPipelines,
}

impl LifeCycle for PointsLines {}

impl PointsLines {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let pipelines = SegmentPipelines::new(|topology| {
            layouts.surface_pipeline(SurfacePipeline {
                path: "passes/points_lines.wgsl",
                entry: "points_lines",
                targets: gbuffer_targets(gpu),
                cull_mode: None,
                topology,
                indexed: false,
                // Points and lines win over the surfaces in which they lie.
                depth_compare: wgpu::CompareFunction::GreaterEqual,
                group1: None,
                layered: false,
            })
        });
        Self { pipelines }
    }

    /// Draws points and lines over the surfaces of `gbuffer`.
    pub fn record(&self, recording: &mut Recording<'_>, world: World<'_>, gbuffer: &GBuffer) -> Result<()> {
        let World { frame, geometry, .. } = world;
        let (gpu, buffers) = (recording.gpu, geometry.buffers);
        if buffers.draws.segments.is_empty() {
            return Ok(());
        }
        let color_attachments = gbuffer.attachments(wgpu::LoadOp::Load);
        let mut pass = recording.scope.scoped_render_pass(
            "points_lines",
            wgpu::RenderPassDescriptor {
                label: Some("points_lines"),
                color_attachments: &color_attachments,
                depth_stencil_attachment: Some(pass::depth(&gbuffer.depth.view, wgpu::LoadOp::Load)),
                ..Default::default()
            },
        );
        pass.set_bind_group(0, &frame.group, &[]);
        pass.set_bind_group(2, geometry.group, &[]);
        let mut pipeline = PipelineInUse::default();
        for run in segments::shown(&buffers.draws.segments, &frame.parts) {
            if !pipeline.set(gpu, &mut pass, self.pipelines.of(&run))? {
                continue;
            }
            segments::draw(&mut pass, buffers, &run);
        }
        drop(pass);
        recording.split("points_lines");
        Ok(())
    }

    /// Adds the pipelines of all points and lines of a scene, in view or not.
    pub fn add_pipelines(&self, frame: &Frame<'_>, set: &mut PipelineSet) {
        for run in &frame.buffers.draws.segments {
            set.add(self.pipelines.of(run));
        }
    }
}
