//! Drawing of lines and points: pipelines that are compiled when a scene first has any, and the runs that
//! they draw.

use super::draw_lists::SegmentRun;
use crate::upload::scene_buffers::SceneBuffers;
use canopy_bvh::gpu::LazyPipeline;
use canopy_scene::bounds::Aabb;
use wgpu::{PrimitiveTopology, RenderPipeline};

/// Pipelines for lines and for points.
#[derive(Debug)]
pub(crate) struct SegmentPipelines {
    lines: LazyPipeline<RenderPipeline>,
    points: LazyPipeline<RenderPipeline>,
}

impl SegmentPipelines {
    /// Creates the two pipelines with `pipeline`.
    pub(crate) fn new(pipeline: impl Fn(PrimitiveTopology) -> LazyPipeline<RenderPipeline>) -> Self {
        Self {
            lines: pipeline(PrimitiveTopology::LineList),
            points: pipeline(PrimitiveTopology::PointList),
        }
    }

    /// Returns the pipeline that draws `run`.
    pub(crate) fn of(&self, run: &SegmentRun) -> &LazyPipeline<RenderPipeline> {
        if run.is_points { &self.points } else { &self.lines }
    }
}

/// Returns the visible runs, with consecutive compatible runs merged. `parts` are the bounds of all parts.
/// The bounds of a hidden part are empty. The bounds of a single point have no extent, but are not empty.
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

/// Draws `run` with the current pipeline. The vertex shaders of material/points_lines.wgsl take the number of
/// triangles as the instance index.
pub(crate) fn draw(pass: &mut wgpu::RenderPass<'_>, buffers: &SceneBuffers, run: &SegmentRun) {
    let triangles = buffers.triangle_count;
    buffers.materials.bind(pass, run.material);
    pass.draw(run.corners(), triangles..triangles + 1);
}
