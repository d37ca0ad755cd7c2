//! Statistics of a frame, for the panel, JSON and tests.

use super::frame::recording::FRAME_SCOPE;
use canopy_bvh::gpu::profiler::PassTiming;
use std::sync::Arc;

/// Statistics of a frame.
#[derive(Debug, Clone, Default)]
pub struct FrameStats {
    /// GPU time of every pass, in order.
    pub passes: Vec<PassTiming>,
    /// Number of frames whose timings have been read back.
    pub timed_frames: u64,
    /// CPU time for recording the last frame, in milliseconds.
    pub cpu_record_ms: f64,
    /// Number of triangles in the merged buffers.
    pub triangles: u32,
    /// Number of lines in the merged buffers.
    pub lines: u32,
    /// Number of points in the merged buffers.
    pub points: u32,
    /// Number of vertices in the merged buffers.
    pub vertices: u32,
    /// Number of mesh instances. Each has its own BVH.
    pub meshes: u32,
    /// Number of lights, including the sun.
    pub lights: u32,
    /// Number of shadow rays in the last frame whose count has been read back.
    pub rays: u64,
    /// Number of tiles of 8 × 8 pixels that were classified. A tile counts once per batch of light slots. The
    /// number is 0 if rays are not compacted.
    pub tiles: u32,
    /// Number of classified tiles that cast rays, in the last frame whose count has been read back.
    pub sending_tiles: u32,
    /// Counts of reflection rays, in the last frame whose counts have been read back.
    pub reflections: ReflectionCounts,
    /// Counts of the world cache, in the last frame whose counts have been read back.
    pub cells: CellCounts,
    /// BVH work of the frame.
    pub tree_work: TreeWork,
    /// Cost of refitted BVHs relative to the last build, as last measured; 1 if it is not measured.
    pub tree_growth: f32,
    /// Number of compute dispatches that update the BVHs.
    pub tree_dispatches: u32,
    /// Exposure in stops. With automatic exposure, it is the exposure of the last frame that has been read
    /// back.
    pub exposure_ev: f32,
    /// Target of the exposure adaptation, in stops.
    pub exposure_target_ev: f32,
    /// Intersecting meshes, in the last frame of the scene that has been read back; `None` if they are not
    /// requested.
    pub intersections: Option<Arc<IntersectionCounts>>,
    /// Drawn boxes of BVH nodes, in the last frame that has been read back; `None` if none are drawn.
    pub tree_boxes: Option<TreeBoxCounts>,
    /// Drawn lines of the mesh overlay; `None` if none are requested.
    pub overlay: Option<OverlayCounts>,
    /// Colour range of the channel `cost`, or of counts in the channel `lab`, in the last frame that has been
    /// read back; `None` if neither is shown.
    pub cost_range: Option<CostRange>,
    /// Noise of the accumulated picture, as last estimated; `None` before the first estimate.
    pub noise: Option<Noise>,
    /// Samples per pixel so far, if the frame is path-traced.
    pub path_samples: Option<u32>,
}

/// Counts of the world cache; zeros if it is not used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Number of cells that something read.
    pub read: u32,
    /// Number of cells that cast rays.
    pub cast: u32,
}

/// Counts of the first reflection bounce; zeros if none is traced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReflectionCounts {
    /// Number of rays.
    pub rays: u32,
    /// Number of tiles of 8 × 8 pixels that cast the rays.
    pub tiles: u32,
    /// Number of rays that hit something.
    pub hits: u32,
    /// Material bins with hits. All materials without textures share a bin, and each one with textures has
    /// its own.
    pub bins: u32,
}

impl FrameStats {
    /// Returns the GPU time of the last timed frame in milliseconds, if the adapter supports timestamps.
    pub fn frame_ms(&self) -> Option<f64> {
        self.pass_ms(FRAME_SCOPE)
    }

    /// Returns the GPU time of the pass called `name` in the last timed frame in milliseconds. `None` if the
    /// frame has no such pass or the adapter does not support timestamps.
    pub fn pass_ms(&self, name: &str) -> Option<f64> {
        let mut passes = self.passes.iter();
        Some(passes.find(|pass| pass.name == name)?.last_ms)
    }
}

/// Colour range of the channel `cost`, or of counts in the channel `lab`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostRange {
    /// Weighted count of nodes and triangles that gets the brightest colour.
    pub range: f32,
    /// Largest count of a pixel, up to `COST_BINS` − 1; `None` if the settings fix the range.
    pub most: Option<f32>,
}

/// Two meshes that intersect each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MeshPair {
    /// Indices of the mesh instances, the lower first.
    pub meshes: [usize; 2],
    /// Number of intersecting pairs of their triangles.
    pub pairs: u32,
}

/// Intersections between meshes in a frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntersectionCounts {
    /// Number of triangles that intersect a triangle of another mesh.
    pub triangles: u32,
    /// Number of intersecting pairs of triangles. The count saturates: from 0xf000_0000 on there may be more.
    pub pairs: u32,
    /// At most 1,024 pairs of meshes, in descending order of their number of triangle pairs.
    pub meshes: Vec<MeshPair>,
    /// Number of intersecting triangle pairs whose meshes are not in the list.
    pub unlisted: u32,
}

/// Noise of an accumulated picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Frames that the picture is the mean of; for a path-traced picture, samples per pixel.
    pub frames: u32,
    /// 95th percentile over the pixels of the standard error of the mean. The error is in display levels of
    /// 255, in the channel with the largest error, and rounded up to a bin of the histogram. It is infinite
    /// if it falls into the last bin or the readback failed.
    pub levels: f32,
}

/// Number of overlay lines in the last frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OverlayCounts {
    /// Number of lines and dots of the enabled kinds.
    pub found: u64,
    /// Number of lines and dots that are drawn: all, or every n-th of a kind, so that each kind stays within
    /// `OVERLAY_LIMIT`.
    pub drawn: u64,
}

/// Number of BVH boxes in the last frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TreeBoxCounts {
    /// Number of boxes at the selected depths.
    pub found: u32,
    /// Number of boxes that are drawn. If not all fit into the list, a pseudo-random subset is drawn.
    pub drawn: u32,
    /// Greatest depth of any box.
    pub deepest: u32,
}

/// BVH work of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TreeWork {
    /// Nothing, because all BVHs are still valid.
    #[default]
    None,
    /// Rebuild of all BVHs.
    Rebuild,
    /// Rebuild of the BVHs of some meshes and of the TLAS.
    Partial,
    /// Refit of the boxes.
    Refit,
}

impl TreeWork {
    /// Returns the name for JSON and for the panel.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Rebuild => "rebuild",
            Self::Partial => "partial",
            Self::Refit => "refit",
        }
    }
}
