//! The renderer: recording frames, queries on the last frame, and readback.

pub(super) mod frames;
pub(super) mod last_frame;
pub(super) mod readback;

use super::{
    FrameSample, FrameStats, Passes, UploadedScene, Uploader,
    bindings::Layouts,
    frame::{
        recording::{FrameBudget, Part},
        slices::RowOffsets,
    },
    gi::cells::CELL_WORDS,
    inspect::{compared_tree::ComparedTree, guest::GuestPass},
    layout::ViewRays,
    paths::path_sums::PathSums,
    queries::{camera_arm::CameraArm, outline::Outline, pick::Pick, ray_path::RayPathPass, walk::Walk},
};
use crate::settings::Settings;
use canopy_bvh::{
    Result,
    gpu::{Gpu, profiler::Profiler},
};
use canopy_scene::{Scene, environment::EnvironmentImage};
use std::{
    any::Any,
    collections::{BTreeSet, VecDeque},
    ops::Range,
    sync::Arc,
};

/// The renderer: all passes, and state that outlives a frame.
#[derive(Debug)]
pub struct Renderer {
    uploader: Arc<Uploader>,
    passes: Passes,
    row_offsets: RowOffsets,
    /// Simulation of the walking character, between frames.
    pub walk: Walk,
    /// Collision of the orbiting camera's arm, between frames.
    pub camera_arm: CameraArm,
    pick: Pick,
    ray_path: RayPathPass,
    outline: Outline,
    profiler: Profiler,
    /// Maximum GPU work per submission.
    pub budget: FrameBudget,
    /// Occlusion rays of each frame whose timings have not been read back.
    occlusion_rays: VecDeque<u64>,
    /// Number of pixels that the passes of the last frame lit, filtered or covered.
    recorded_pixels: u64,
    /// Samples per pixel that a path-traced frame adds.
    pub path_samples: u32,
    /// Range of sample indices that path-traced frames accumulate; `None` for as many as the settings
    /// request.
    pub path_part: Option<Range<u32>>,
    /// True if a new environment may be computed over several frames on slow adapters. Those frames show the
    /// previous one.
    pub spreads_environment: bool,
    stats: FrameStats,
    /// Parts of the last frame that are still to be submitted, in order.
    parts: VecDeque<Part>,
    /// Last frame, for queries and readbacks.
    last: Option<LastFrame>,
    /// Frame before the one that is being recorded.
    before: Option<LastFrame>,
    /// True if a frame has been dropped since the last one.
    has_dropped: bool,
    /// Number of frames recorded with the same scene, size and settings. The next field holds these three.
    frames: u32,
    frames_are_of: Option<(u64, [u32; 2], Settings)>,
    /// Index that seeded the random numbers of the last frame.
    sampled: u32,
    /// Override of that index for the next frames. They then have the same noise as another renderer's frame
    /// with that index.
    pub sample_index_override: Option<u32>,
}

/// State of a frame for queries and readbacks after it.
#[derive(Debug)]
struct LastFrame {
    /// Bind group 0.
    group: wgpu::BindGroup,
    /// Camera rays through the sample positions of its pixels.
    rays: ViewRays,
    /// Width and height in pixels.
    size: [u32; 2],
    /// Index of the frame within a supersampled picture.
    sample: FrameSample,
    /// True if the frame was not path-traced.
    is_hybrid: bool,
}

impl Renderer {
    /// Creates a renderer. The first frame that needs a pass compiles it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::with_uploader(gpu, Arc::new(Uploader::new(gpu)))
    }

    /// Creates a renderer that shares the uploader, and thus the scenes, of another renderer on the same
    /// device.
    pub fn with_uploader(gpu: &Gpu, uploader: Arc<Uploader>) -> Result<Self> {
        let layouts = &uploader.layouts;
        Ok(Self {
            passes: Passes::new(gpu, &uploader)?,
            row_offsets: RowOffsets::new(gpu)?,
            walk: Walk::new(gpu, layouts),
            camera_arm: CameraArm::new(gpu),
            pick: Pick::new(gpu, layouts),
            ray_path: RayPathPass::new(gpu, layouts),
            outline: Outline::new(gpu, layouts),
            profiler: Profiler::new(gpu)?,
            budget: FrameBudget::default(),
            occlusion_rays: VecDeque::new(),
            recorded_pixels: 0,
            path_samples: 1,
            path_part: None,
            spreads_environment: false,
            stats: FrameStats::default(),
            parts: VecDeque::new(),
            last: None,
            before: None,
            has_dropped: false,
            frames: 0,
            frames_are_of: None,
            sampled: 0,
            sample_index_override: None,
            uploader,
        })
    }

    /// Returns the uploader, which copies scenes into GPU memory from any thread.
    pub fn uploader(&self) -> Arc<Uploader> {
        self.uploader.clone()
    }

    /// Writes the values of the materials that edits of `scene` have `changed` into the uploaded scene. They
    /// keep their textures. The textures keep the mip levels that were made for the original alpha mode.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] if the alpha table for rays exceeds the adapter's limits.
    pub fn write_materials(
        &self,
        gpu: &Gpu,
        scene: &Scene,
        changed: &BTreeSet<usize>,
        uploaded: &mut UploadedScene,
    ) -> Result<()> {
        uploaded.write_materials(gpu, &self.uploader.layouts, scene, changed)
    }

    /// Replaces the image of the environment file in the configuration.
    pub fn set_environment(&mut self, gpu: &Gpu, image: Option<&EnvironmentImage>) -> Result<()> {
        self.passes.environment.set_file(gpu, image)
    }

    /// Returns the number of segments of each path of the last sample that was traced by separate kernels.
    /// The paths are those of the last slice of rows, in the order of tiles of 8 × 8 pixels. Waits for the
    /// readback.
    ///
    /// # Errors
    ///
    /// Any error of reading back.
    pub fn read_path_lengths(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        self.passes.paths.lengths(gpu)
    }

    /// Returns the words of each cell of the world cache (gi/cells.wgsl) after the last frame that used it; none
    /// before. Waits for the readback.
    ///
    /// # Errors
    ///
    /// Any error of reading back.
    pub fn read_cells(&self, gpu: &Gpu) -> Result<Vec<[u32; CELL_WORDS as usize]>> {
        self.passes.occlusion.cells().read(gpu)
    }

    /// Restores the sums of the first `samples` samples. The next frame continues from them. It must be
    /// path-traced and have the size of `sums`.
    pub fn restore_paths(&mut self, gpu: &Gpu, sums: &PathSums, samples: u32) -> Result<()> {
        self.passes.paths.restore(gpu, sums, samples)
    }

    /// Restarts the path-traced picture, for example after its shaders have changed.
    pub fn restart_paths(&mut self) {
        self.passes.paths.restart();
    }

    /// Replaces the surface that the channel `deviation` measures the distance to.
    pub fn set_compared(&mut self, compared: Option<Arc<ComparedTree>>) {
        self.passes.inspect.deviation.set(compared);
    }

    /// Returns the guest that draws the channel `lab`. If there is none of type `T`, `make` creates one,
    /// which replaces it.
    #[expect(clippy::expect_used, reason = "the guest has the type that was asked for")]
    pub fn guest_or<T: GuestPass>(&mut self, make: impl FnOnce(&Layouts) -> T) -> &mut T {
        if self.guest::<T>().is_none() {
            self.passes.inspect.guest = Some(Box::new(make(&self.uploader.layouts)));
        }
        self.guest_mut().expect("the guest is a T")
    }

    /// Returns the guest if it is a `T`.
    pub fn guest<T: GuestPass>(&self) -> Option<&T> {
        let guest: &dyn Any = self.passes.inspect.guest.as_deref()?;
        guest.downcast_ref()
    }

    /// Returns the guest if it is a `T`.
    pub fn guest_mut<T: GuestPass>(&mut self) -> Option<&mut T> {
        let guest: &mut dyn Any = self.passes.inspect.guest.as_deref_mut()?;
        guest.downcast_mut()
    }

    /// Returns the surface that the channel `deviation` measures the distance to.
    pub fn compared(&self) -> Option<&Arc<ComparedTree>> {
        self.passes.inspect.deviation.compared()
    }

    /// True if the environment that the last frame asked for is not yet complete.
    pub fn environment_is_pending(&self) -> bool {
        self.passes.environment.is_pending()
    }
}
