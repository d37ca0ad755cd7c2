//! What a frame did and took, for the panel, JSON and tests.

use super::{
    cost_range::CostRange, intersections::IntersectionCounts, lab, lab_show::LabCounts,
    noise::Noise, overlay::OverlayCounts, recording::FRAME_SCOPE, tree_boxes::TreeBoxCounts,
    tree_policy::TreeWork,
};
use crate::gpu::profiler::PassTiming;
use std::sync::Arc;

/// What a frame did and took.
#[derive(Debug, Clone, Default)]
pub struct FrameStats {
    /// Every pass on the GPU, in order.
    pub passes: Vec<PassTiming>,
    /// Number of frames whose timings have come back.
    pub timed_frames: u64,
    /// Time the CPU took to record the last frame.
    pub cpu_record_ms: f64,
    /// Triangles in the merged buffers.
    pub triangles: u32,
    /// Lines in the merged buffers.
    pub lines: u32,
    /// Points in the merged buffers.
    pub points: u32,
    /// Vertices in the merged buffers.
    pub vertices: u32,
    /// Meshes, each with a tree of its own.
    pub meshes: u32,
    /// Lights, with the sun.
    pub lights: u32,
    /// Shadow rays of the last frame whose count has come back.
    pub rays: u64,
    /// Tiles of 8 × 8 pixels that were classified, once for each batch of lights; 0 where rays are not
    /// compacted.
    pub tiles: u32,
    /// Those of them that sent rays, in the last frame whose count has come back.
    pub sending_tiles: u32,
    /// What reflection rays did in the last frame whose counts have come back.
    pub reflections: ReflectionCounts,
    /// What the frame did to the trees.
    pub tree_work: TreeWork,
    /// Refit trees: their cost over that of the last build, as last seen; 1 where it is not measured.
    pub tree_growth: f32,
    /// Compute dispatches that did it.
    pub tree_dispatches: u32,
    /// Exposure in stops; where the picture's histogram settles it, of the last frame of which that has come
    /// back.
    pub exposure_ev: f32,
    /// The exposure that adaptation leads to, in stops.
    pub exposure_target_ev: f32,
    /// Which meshes pass through each other, in the last frame of the scene of which that has come back;
    /// `None` where nobody asks.
    pub intersections: Option<Arc<IntersectionCounts>>,
    /// Boxes of the trees that are drawn, in the last frame of which that has come back; `None` where none
    /// are.
    pub tree_boxes: Option<TreeBoxCounts>,
    /// Lines of the meshes that are drawn; `None` where none are asked for.
    pub overlay: Option<OverlayCounts>,
    /// What the rays of the channel `lab` did, in the last frame of which that has come back; `None` where it
    /// is neither shown nor read.
    pub lab: Option<LabCounts>,
    /// What the colours of the channel `cost`, or of counts of the channel `lab`, stand for, in the last frame of which that
    /// has come back;
    /// `None` where it is not shown.
    pub cost_range: Option<CostRange>,
    /// Noise of the picture that is the mean of the last frames, as last estimated; `None` before.
    pub noise: Option<Noise>,
    /// Samples of each pixel so far, of a frame that is made of paths.
    pub path_samples: Option<u32>,
}

/// Counts of the first bounce of reflections; zeros where none is traced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReflectionCounts {
    /// Rays.
    pub rays: u32,
    /// Tiles of 8 × 8 pixels that sent them.
    pub tiles: u32,
    /// Rays that hit something.
    pub hits: u32,
    /// Bins of materials that were hit: one for all without textures, and one for each with textures.
    pub bins: u32,
}

impl FrameStats {
    /// Time of the last timed frame on the GPU in milliseconds, where the adapter tells.
    pub fn frame_ms(&self) -> Option<f64> {
        self.pass_ms(FRAME_SCOPE)
    }

    /// Time of a pass of that frame, likewise.
    pub fn pass_ms(&self, name: &str) -> Option<f64> {
        let mut passes = self.passes.iter();
        Some(passes.find(|pass| pass.name == name)?.last_ms)
    }

    /// Millions of rays of the channel `lab` a second in the last frame, where the adapter is a GPU:
    /// Mesa's software adapter ends a pass before its last dispatch is done.
    pub fn lab_mrays(&self, has_gpu: bool) -> Option<f64> {
        let ms = self.pass_ms(lab::LABEL).filter(|ms| *ms > 0.0 && has_gpu);
        Some(self.lab?.rays as f64 / ms? / 1e3)
    }
}
