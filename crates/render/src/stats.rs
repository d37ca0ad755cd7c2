//! What a frame did and took, for the panel, JSON and tests.

use super::frame::recording::FRAME_SCOPE;
use canopy_bvh::gpu::profiler::PassTiming;
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
}

/// What the colours of the channel `cost` stand for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostRange {
    /// Nodes and triangles of the brightest colour.
    pub range: f32,
    /// The largest count of a pixel, up to `COST_BINS` − 1; `None` where the range is set.
    pub most: Option<f32>,
}

/// Two meshes that pass through each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeshPair {
    /// Indices of the mesh instances, the less first.
    pub meshes: [usize; 2],
    /// Pairs of their triangles that pass through each other.
    pub pairs: u32,
}

/// What passes through what in a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntersectionCounts {
    /// Triangles that pass through any of another mesh.
    pub triangles: u32,
    /// Pairs of triangles; from 0xf000_0000 on there may be more.
    pub pairs: u32,
    /// The meshes, those with the most pairs first: 1,024 at most.
    pub meshes: Vec<MeshPair>,
    /// Pairs of triangles of further meshes, which are not in the list.
    pub unlisted: u32,
}

/// Noise of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Frames that the picture is the mean of; of a picture by paths, samples of each pixel.
    pub frames: u32,
    /// Standard error of the mean that 95 of 100 pixels stay below, in levels of 255 as displayed, in the channel
    /// where it is largest. It is rounded up to a bin of the histogram, and infinite where the last bin is
    /// reached or nothing could be read back.
    pub levels: f32,
}

/// How many lines of the last frame there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OverlayCounts {
    /// Lines and dots of what is shown.
    pub found: u64,
    /// Those that are drawn: all, or of each kind one of so many that it stays within `OVERLAY_LIMIT`.
    pub drawn: u64,
}

/// How many boxes of the last frame there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeBoxCounts {
    /// Boxes of the depths that are shown.
    pub found: u32,
    /// Those that are drawn: all, or as many as there is room for.
    pub drawn: u32,
    /// The greatest depth of one.
    pub deepest: u32,
}

/// What a frame did to the trees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeWork {
    /// Nothing: they are still right.
    #[default]
    None,
    /// It built all of them.
    Rebuild,
    /// It built those of some meshes, and the TLAS.
    Partial,
    /// It fitted the boxes to the triangles again.
    Refit,
}

impl TreeWork {
    /// The name in JSON and on the panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rebuild => "rebuild",
            Self::Partial => "partial",
            Self::Refit => "refit",
        }
    }
}
