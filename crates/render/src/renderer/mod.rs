//! The renderer: frames one after another, what is asked of the last one, and reading it back.

pub(super) mod frames;
pub(super) mod last_frame;
pub(super) mod readback;

use super::{
    FrameSample, FrameStats, Passes, UploadedScene, Uploader,
    bindings::Layouts,
    frame::{
        bands::FirstRows,
        recording::{FrameBudget, Part},
    },
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

/// The renderer: every pass, and what lives longer than a frame.
#[derive(Debug)]
pub struct Renderer {
    uploader: Arc<Uploader>,
    passes: Passes,
    first_rows: FirstRows,
    /// Walks of a person, between frames.
    pub walk: Walk,
    /// What holds up a camera that orbits, between frames.
    pub camera_arm: CameraArm,
    pick: Pick,
    ray_path: RayPathPass,
    outline: Outline,
    profiler: Profiler,
    /// How much work the GPU is given at once.
    pub budget: FrameBudget,
    /// Occlusion rays of each frame whose times have not come back.
    occlusion_rays: VecDeque<u64>,
    /// Pixels that the passes of the last frame lit, filtered or covered.
    recorded_pixels: u64,
    /// Samples of each pixel that a frame of paths adds.
    pub path_samples: u32,
    /// Which samples frames of paths add up, by their numbers; `None` is as many as the settings ask for.
    pub path_part: Option<Range<u32>>,
    /// Whether a new environment may be made over several frames where the adapter is slow. Meanwhile they
    /// show the one before.
    pub spreads_environment: bool,
    stats: FrameStats,
    /// What is left to submit of the last frame, in order.
    parts: VecDeque<Part>,
    /// The last frame, for reading its channels.
    last: Option<LastFrame>,
    /// The one before, while a frame is recorded.
    before: Option<LastFrame>,
    /// Whether a frame was dropped since the last one.
    has_dropped: bool,
    /// Frames that have been recorded of the same scene with the same settings, and these.
    frames: u32,
    frames_are_of: Option<(u64, [u32; 2], Settings)>,
    /// Number of the last frame, by which its random numbers are chosen.
    sampled: u32,
    /// That number for the next frames, in place of their own: with it they have the noise of another renderer's frame.
    pub sampled_as: Option<u32>,
}

/// What is kept of a frame.
#[derive(Debug)]
struct LastFrame {
    /// Group 0.
    group: wgpu::BindGroup,
    /// Through what it looked at in its pixels.
    rays: ViewRays,
    /// Pixels in a row, and rows.
    size: [u32; 2],
    /// Which frame of its picture it was.
    sample: FrameSample,
    /// Whether it was not made of paths.
    is_hybrid: bool,
}

impl Renderer {
    /// Every pass is compiled by the first frame that needs it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::beside(gpu, Arc::new(Uploader::new(gpu)))
    }

    /// As [`Renderer::new`], for scenes of the uploader of another renderer on the same device.
    pub fn beside(gpu: &Gpu, uploader: Arc<Uploader>) -> Result<Self> {
        let layouts = &uploader.layouts;
        Ok(Self {
            passes: Passes::new(gpu, &uploader)?,
            first_rows: FirstRows::new(gpu)?,
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
            sampled_as: None,
            uploader,
        })
    }

    /// What brings scenes into GPU memory, from any thread.
    pub fn uploader(&self) -> Arc<Uploader> {
        self.uploader.clone()
    }

    /// Writes what edits of `scene` have changed into what was uploaded of it: the values of these materials.
    /// They keep the textures that they have, and levels of textures stay those of the alpha mode at first.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] where the adapter has no room for the alpha that rays read.
    pub fn write_materials(
        &self,
        gpu: &Gpu,
        scene: &Scene,
        changed: &BTreeSet<usize>,
        uploaded: &mut UploadedScene,
    ) -> Result<()> {
        uploaded.write_materials(gpu, &self.uploader.layouts, scene, changed)
    }

    /// Replaces the image of the file that the configuration's environment names.
    pub fn set_environment(&mut self, gpu: &Gpu, image: Option<&EnvironmentImage>) -> Result<()> {
        self.passes.environment.set_file(gpu, image)
    }

    /// How many rays each path has gone on by, of the last sample that several kernels have followed: of the last band
    /// of pixels, in the order of tiles of 8 × 8. Waits for them.
    ///
    /// # Errors
    ///
    /// Those of reading back.
    pub fn read_path_lengths(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        self.passes.paths.lengths(gpu)
    }

    /// The next frame, which is made of paths and has the size of `sums`, goes on from these sums of its
    /// first samples.
    pub fn restore_paths(&mut self, gpu: &Gpu, sums: &PathSums, samples: u32) -> Result<()> {
        self.passes.paths.restore(gpu, sums, samples)
    }

    /// Begins the picture of paths anew, as after a change of their shaders.
    pub fn restart_paths(&mut self) {
        self.passes.paths.restart();
    }

    /// Replaces the surface that the channel `deviation` measures from.
    pub fn set_compared(&mut self, compared: Option<Arc<ComparedTree>>) {
        self.passes.inspect.deviation.set(compared);
    }

    /// The guest that draws the channel `lab`. Where it is no `T`, `make` makes one, which takes its place.
    #[expect(clippy::expect_used, reason = "the guest has the type that was asked for")]
    pub fn guest_or<T: GuestPass>(&mut self, make: impl FnOnce(&Layouts) -> T) -> &mut T {
        if self.guest::<T>().is_none() {
            self.passes.inspect.guest = Some(Box::new(make(&self.uploader.layouts)));
        }
        self.guest_mut().expect("the guest is a T")
    }

    /// The guest, where it is a `T`.
    pub fn guest<T: GuestPass>(&self) -> Option<&T> {
        let guest: &dyn Any = self.passes.inspect.guest.as_deref()?;
        guest.downcast_ref()
    }

    /// The guest, where it is a `T`.
    pub fn guest_mut<T: GuestPass>(&mut self) -> Option<&mut T> {
        let guest: &mut dyn Any = self.passes.inspect.guest.as_deref_mut()?;
        guest.downcast_mut()
    }

    /// The surface that the channel `deviation` measures from.
    pub fn compared(&self) -> Option<&Arc<ComparedTree>> {
        self.passes.inspect.deviation.compared()
    }

    /// Whether the environment is not yet what the last frame asked for.
    pub fn environment_is_pending(&self) -> bool {
        self.passes.environment.is_pending()
    }
}
