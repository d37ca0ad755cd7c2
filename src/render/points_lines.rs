//! `points_lines`: opaque and masked points and lines into the G-buffer, over the triangles.

use super::{
    bindings::{Layouts, Merged},
    scene_buffers::SceneBuffers,
    segments::{self, SegmentPipelines},
    targets::{GBUFFER_FORMATS, Targets},
};
use crate::{
    Result,
    gpu::{Gpu, Needs, pass, profiler::Scope},
    scene::bounds::Aabb,
};

/// The pass.
#[derive(Debug)]
pub struct PointsLines {
    pipelines: SegmentPipelines,
}

impl PointsLines {
    /// Ready to be compiled.
    pub fn new(layouts: &Layouts) -> Self {
        let pipelines = SegmentPipelines::new(|topology| {
            layouts.merged_on_demand(Merged {
                path: "render/points_lines.wgsl",
                entry: "points_lines",
                targets: GBUFFER_FORMATS.map(Into::into).into(),
                cull_mode: None,
                topology,
                // Over the surfaces in which they lie.
                depth_compare: wgpu::CompareFunction::GreaterEqual,
                asks: None,
                layered: false,
            })
        });
        Self { pipelines }
    }

    /// What it compiles for `buffers`.
    pub fn needs(&self, buffers: &SceneBuffers, needs: &mut Needs) {
        self.pipelines.needs(buffers.segments.iter(), needs);
    }

    /// Draws what `gbuffer` has left into the same targets; `parts` are the boxes of all parts.
    pub fn record(
        &self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        frame: &wgpu::BindGroup,
        buffers: &SceneBuffers,
        parts: &[Aabb],
        targets: &Targets,
    ) -> Result<()> {
        let color_attachments = targets.gbuffer_colors(wgpu::LoadOp::Load);
        let mut pass = scope.scoped_render_pass(
            "points_lines",
            wgpu::RenderPassDescriptor {
                label: Some("points_lines"),
                color_attachments: &color_attachments,
                depth_stencil_attachment: Some(pass::depth(
                    &targets.depth.view,
                    wgpu::LoadOp::Load,
                )),
                ..Default::default()
            },
        );
        pass.set_bind_group(0, frame, &[]);
        pass.set_bind_group(2, &buffers.scene_group, &[]);
        for run in segments::shown(&buffers.segments, parts) {
            pass.set_pipeline(self.pipelines.of(&run).get(gpu)?);
            segments::draw(&mut pass, buffers, &run);
        }
        Ok(())
    }
}
