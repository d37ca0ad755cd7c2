//! Drawing lines and points: pipelines that are compiled when a scene first has any, and the runs that they
//! draw.

use super::draw_lists::SegmentRun;
use crate::upload::scene_buffers::SceneBuffers;
use canopy_bvh::gpu::OnDemand;
use canopy_scene::bounds::Aabb;
use wgpu::{PrimitiveTopology, RenderPipeline};

/// A pipeline for lines and one for points.
#[derive(Debug)]
pub(crate) struct SegmentPipelines {
    lines: OnDemand<RenderPipeline>,
    points: OnDemand<RenderPipeline>,
}

impl SegmentPipelines {
    /// Both, of a kind that `pipeline` makes.
    pub(crate) fn new(pipeline: impl Fn(PrimitiveTopology) -> OnDemand<RenderPipeline>) -> Self {
        Self {
            lines: pipeline(PrimitiveTopology::LineList),
            points: pipeline(PrimitiveTopology::PointList),
        }
    }

    /// The pipeline that draws `run`.
    pub(crate) fn of(&self, run: &SegmentRun) -> &OnDemand<RenderPipeline> {
        if run.is_points { &self.points } else { &self.lines }
    }
}

/// Those of `runs` that show, joined where they lie side by side and agree; `parts` are the boxes of all
/// parts. A hidden part has no size, but a point needs none.
pub(crate) fn shown(runs: &[SegmentRun], parts: &[Aabb]) -> Vec<SegmentRun> {
    let mut shown: Vec<SegmentRun> = Vec::new();
    for run in runs.iter().filter(|run| !parts[run.part].is_empty()) {
        match shown.last_mut() {
            Some(last)
                if last.first + last.count == run.first
                    && (last.material, last.is_points) == (run.material, run.is_points) =>
            {
                last.count += run.count;
            }
            _ => shown.push(*run),
        }
    }
    shown
}

/// Draws `run` with the pipeline that is set; the vertex shaders of material/points_lines.wgsl take the number
/// of triangles for the instance.
pub(crate) fn draw(pass: &mut wgpu::RenderPass<'_>, buffers: &SceneBuffers, run: &SegmentRun) {
    let triangles = buffers.triangle_count;
    buffers.materials.bind(pass, run.material);
    pass.draw(run.corners(), triangles..triangles + 1);
}
