//! `reproject`: where the last frame saw each pixel's surface, for every signal that is averaged over frames.

use super::{
    bindings::Layouts,
    edges::{
        GBuffer, Geometry, Motion, POSITIONS, SURFACES, SURFACES_FORMAT, TAPS_FORMAT, UNUSED,
        WORDS, fitted,
    },
    frame::{Frame, Prepared},
    life_cycle::LifeCycle,
    recording::Recording,
    tree_policy::TreePlan,
};
use crate::{
    Result, config,
    gpu::{
        Gpu, GpuImage, Kernel, Needs, Uniform,
        pass::Binding::{self, Read, Store},
    },
};
use wgpu::TextureUsages as Usage;

/// Frames that are averaged while something moves: what it uncovers has to brighten, and what it covers to
/// darken.
const MOVING: u32 = 8;

/// The pass, with what it keeps from frame to frame. Without sampled signals its images are not used.
#[derive(Debug)]
pub struct History {
    kernel: Kernel,
    remembered: Uniform<u32>,
    images: Images,
    made_for: Option<Key>,
    /// Frames since the history began; the surfaces of the last one are number `(frames − 1) % 2`.
    frames: u32,
    /// Whether the last frame has been recorded whole.
    is_whole: bool,
    /// The same, while a frame is being recorded.
    was_whole: bool,
    /// Whether anything moved in the last frame.
    moved: bool,
    /// Frames since the scene came to rest, or the history began.
    since_rest: u32,
}

#[derive(Debug)]
struct Images {
    taps: GpuImage,
    surfaces: [GpuImage; 2],
}

/// What all frames of a history have in common.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    /// [`SceneBuffers::version`](super::SceneBuffers::version).
    scene: u64,
    size: [u32; 2],
    /// The settings of the signals that are sampled.
    occlusion: Option<config::Occlusion>,
    shadows: Option<config::Shadows>,
    reflections: Option<config::Reflections>,
    lights: u32,
    blended_cast: bool,
}

/// Where the last frame saw each pixel's surface.
#[derive(Debug, Clone, Copy)]
pub struct Reprojection<'a> {
    /// Pixels of the last frame, and how much each counts.
    pub taps: &'a GpuImage,
    /// This frame's surfaces.
    pub surfaces: &'a GpuImage,
    /// The surfaces that the last frame saw.
    pub last_surfaces: &'a GpuImage,
    /// Number of this frame since the history began.
    pub index: u32,
    /// Frames since the scene came to rest, or the history began.
    since_rest: u32,
    /// Whether anything in the scene has moved since the last frame.
    pub moves: bool,
}

/// What a mean over frames has seen since the light that it is a mean of has changed.
#[derive(Debug)]
pub struct LightChanges {
    /// Frames since a change; as many as can be where there was none.
    still: u32,
    /// Frames since one that was a sample of a picture, of which no later frame is a part.
    together: u32,
}

impl Default for LightChanges {
    /// Of a mean that no frame is a part of yet.
    fn default() -> Self {
        Self {
            still: u32::MAX,
            together: 0,
        }
    }
}

impl LightChanges {
    /// Frames that are averaged while light changes.
    const CHANGING: u32 = 4;
    /// Frames after which such a mean has hardly anything from before the change: 3 % of it.
    const GONE: u32 = 12;

    /// Earlier frames that count in this frame, in which light has `changed` since the last. Once per frame.
    pub fn remembered(&mut self, changed: bool, is_one_of_many: bool) -> u32 {
        self.still = match changed {
            true => 0,
            false => self.still.saturating_add(1),
        };
        let next = match is_one_of_many {
            true => 0,
            false => self.together.saturating_add(1),
        };
        let together = std::mem::replace(&mut self.together, next);
        (Self::CHANGING - 1 + self.still.saturating_sub(Self::GONE)).min(together)
    }
}

impl Reprojection<'_> {
    /// Earlier frames that count, of a signal that averages `frames` and notices by itself what changes.
    pub fn remembered(&self, frames: u32) -> u32 {
        (frames - 1).min(self.index)
    }

    /// Earlier frames of a signal that does not: few while something moves, and once all stands still, what was
    /// found while something moved counts no more.
    pub fn remembered_cautiously(&self, frames: u32) -> u32 {
        let most = if self.moves { MOVING } else { frames };
        (frames.min(most) - 1).min(self.since_rest)
    }
}

impl History {
    /// Ready to be compiled.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let uniform = Binding::Uniform;
        let (taps, surfaces) = (Store(TAPS_FORMAT), Store(SURFACES_FORMAT));
        let bindings = [
            uniform, POSITIONS, WORDS, POSITIONS, SURFACES, Read, taps, surfaces, uniform, uniform,
        ];
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let path = "passes/reproject.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, "reproject", &shared, &bindings),
            remembered: Uniform::new(gpu, "reproject.remembered"),
            images: Images::new(gpu, UNUSED),
            made_for: None,
            frames: 0,
            is_whole: false,
            was_whole: false,
            moved: false,
            since_rest: 0,
        }
    }

    /// What it compiles.
    pub fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Finds where the last frame saw each pixel's surface, where the frame samples a signal.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        geometry: Geometry<'_>,
        gbuffer: &GBuffer,
        motion: Motion<'_>,
        plan: &TreePlan,
    ) -> Result<Reprojection<'_>> {
        let gpu = recording.gpu;
        let was_whole = std::mem::take(&mut self.was_whole);
        let key = Key::of(frame);
        let size = key.as_ref().map_or(UNUSED, |key| key.size);
        if self.images.taps.size() != size {
            self.images = fitted(gpu, size, || Images::new(gpu, size))?;
            self.made_for = None;
        }
        let continues = was_whole && key.is_some() && self.made_for == key;
        self.made_for = key;
        if !continues {
            self.frames = 0;
        }
        let moves = plan.changed.contains(&true) && continues;
        let rests = std::mem::replace(&mut self.moved, moves) && !moves;
        self.since_rest = match rests || !continues {
            true => 0,
            false => self.since_rest.saturating_add(1),
        };
        let [last, now] = self.surfaces();
        let output = Reprojection {
            taps: &self.images.taps,
            surfaces: now,
            last_surfaces: last,
            index: self.frames,
            since_rest: self.since_rest,
            moves,
        };
        if let Some(key) = &self.made_for {
            self.remembered
                .write(gpu, &output.remembered(key.longest()));
            recording.dispatch_pixels(
                "reproject",
                &self.kernel,
                &[(0, &frame.group), (2, geometry.group)],
                &[
                    &gbuffer.position,
                    &gbuffer.ids,
                    motion.displacement,
                    last,
                    &geometry.buffers.triangle_info,
                    output.taps,
                    now,
                    motion.params,
                    &self.remembered,
                ],
                frame.size,
                recording.budget.pixels(),
            )?;
        }
        Ok(output)
    }

    /// The surfaces of the last frame and of this one.
    fn surfaces(&self) -> [&GpuImage; 2] {
        let [even, odd] = &self.images.surfaces;
        if self.frames.is_multiple_of(2) {
            [odd, even]
        } else {
            [even, odd]
        }
    }
}

impl Key {
    /// `None` where the frame samples nothing that is averaged.
    fn of(frame: &Prepared<'_>) -> Option<Self> {
        let config = &frame.config;
        let occlusion = frame.samples_occlusion.then(|| config.occlusion.clone());
        let shadows = frame.filters_shadows.then(|| config.shadows.clone());
        let averages = frame.traces_reflections && config.reflections.averages();
        let reflections = averages.then(|| config.reflections.clone());
        (occlusion.is_some() || shadows.is_some() || averages).then(|| Self {
            scene: frame.buffers.version,
            size: frame.size,
            occlusion,
            shadows,
            reflections,
            lights: frame.light_plan.lights,
            blended_cast: config.shadows.blended_cast,
        })
    }

    /// The most frames that one of the signals averages.
    fn longest(&self) -> u32 {
        let occlusion = self
            .occlusion
            .as_ref()
            .map_or(1, |settings| settings.history);
        let shadows = self.shadows.as_ref().map_or(1, |settings| settings.history);
        let reflections = self.reflections.as_ref();
        let reflections = reflections.map_or(1, |settings| settings.history);
        occlusion.max(shadows).max(reflections)
    }
}

impl Images {
    fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let image = |label, format| GpuImage::new(gpu, label, size, format, usage);
        Self {
            taps: image("reproject.taps", TAPS_FORMAT),
            surfaces: [(); 2].map(|()| image("reproject.surfaces", SURFACES_FORMAT)),
        }
    }
}

impl LifeCycle for History {
    fn begin(&mut self) {
        self.was_whole = std::mem::take(&mut self.is_whole);
    }

    fn commit(&mut self) {
        if self.made_for.is_some() {
            self.frames = self.frames.wrapping_add(1);
            self.is_whole = true;
        }
    }
}
