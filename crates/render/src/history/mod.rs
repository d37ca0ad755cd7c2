//! `reproject`: finds each pixel's surface in the last frame, for every signal that is averaged over frames.

pub mod denoiser;
pub mod motion;

use super::{
    bindings::Layouts,
    frame::{
        FrameSetup,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    resources::{
        GBuffer, Motion, POSITIONS, REPROJECTED_FORMAT, Reprojection, SURFACES, SURFACES_FORMAT, UNUSED,
        WORDS, try_create,
    },
    world::World,
};
use crate::{layout::Light, settings};
use canopy_bvh::{
    Result,
    gpu::{
        Gpu, GpuImage, Kernel, Uniform,
        pass::Binding::{self, Read, Store},
    },
};
use glam::Vec3;
use wgpu::TextureUsages as Usage;

/// Reprojection pass and its history. Its images are unused if no signal is sampled.
#[derive(Debug)]
pub struct History {
    kernel: Kernel,
    max_history: Uniform<u32>,
    images: Images,
    past: TemporalState<Option<Past>>,
}

/// State left by the last frame, if it sampled a signal.
#[derive(Debug, Clone)]
struct Past {
    key: Key,
    /// Frames since the history began. The surfaces of the last one have the index `(frames − 1) % 2`.
    frames: u32,
    /// True if anything moved in the last frame.
    moved: bool,
    /// Frames since the scene stopped moving, or since the history began.
    since_rest: u32,
}

#[derive(Debug)]
struct Images {
    reprojected: GpuImage,
    surfaces: [GpuImage; 2],
}

/// Properties that all frames of a history have in common. A change restarts the history.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    /// [`SceneBuffers::version`](super::SceneBuffers::version).
    scene: u64,
    size: [u32; 2],
    /// Settings of the sampled signals.
    occlusion: Option<settings::Occlusion>,
    shadows: Option<settings::Shadows>,
    reflections: Option<settings::Reflections>,
    lights: u32,
    blended_cast: bool,
}

/// Record of light changes, which limits the length of a temporal mean.
#[derive(Debug, Clone, Copy)]
pub struct LightChanges {
    /// Frames since the last change; `u32::MAX` if there was none.
    still: u32,
    /// Frames since the last sample of a supersampled picture. Later frames are not averaged with that
    /// sample.
    together: u32,
}

impl Default for LightChanges {
    /// Returns an empty history.
    fn default() -> Self {
        Self {
            still: u32::MAX,
            together: 0,
        }
    }
}

impl LightChanges {
    /// Maximum history length in frames, including the current one, while light changes.
    const CHANGING: u32 = 4;
    /// Number of frames after a change at which a mean of that length holds only 3 % from before it.
    const GONE: u32 = 12;

    /// Same as [`LightChanges::max_history`], but without any history at the first change after a while. A lamp
    /// that is switched off thus leaves no glow.
    pub fn max_history_of_light(&mut self, changed: bool, is_one_of_many: bool) -> u32 {
        let is_sudden = changed && self.still >= Self::GONE;
        let most = self.max_history(changed, is_one_of_many);
        if !is_sudden {
            return most;
        }
        // The next frame averages this one only.
        self.together = self.together.min(1);
        0
    }

    /// Returns the maximum history length in frames, without this one. `changed` is true if light has changed
    /// since the last frame, and `is_one_of_many` if this frame is a sample of a supersampled picture. Call
    /// it once per frame.
    pub fn max_history(&mut self, changed: bool, is_one_of_many: bool) -> u32 {
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

/// Everything that sends light, for a comparison with the last frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LightKey {
    environment: Option<(settings::Environment, settings::Sun, (u64, bool))>,
    lights: Option<Vec<Light>>,
    /// Settings of emission, and emission of animated materials.
    emission: Option<(settings::Materials, Vec<(usize, Vec3)>)>,
}

impl LightKey {
    /// Returns the key of a frame. Without all bounces, only lights count in it.
    pub(crate) fn of(world: World<'_>) -> Self {
        let frame = world.frame;
        let is_full = frame.bounced.is_full();
        let emission = || {
            frame
                .pose
                .materials
                .iter()
                .map(|(index, material)| (*index, material.emissive))
        };
        Self {
            lights: Some(frame.lights.clone()),
            emission: is_full.then(|| (frame.config.materials.clone(), emission().collect())),
            environment: Self::environment(world).environment,
        }
    }

    /// Returns the key of a frame's environment. Without all bounces, nothing counts in it.
    pub(crate) fn environment(world: World<'_>) -> Self {
        let World {
            frame, environment, ..
        } = world;
        let config = &frame.config;
        Self {
            environment: frame.bounced.is_full().then(|| {
                (
                    config.environment.clone(),
                    config.sun.clone(),
                    environment.state(),
                )
            }),
            lights: None,
            emission: None,
        }
    }
}

impl History {
    /// Creates the pass without compiling it.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        let uniform = Binding::Uniform;
        let (reprojected, surfaces) = (Store(REPROJECTED_FORMAT), Store(SURFACES_FORMAT));
        let bindings = [
            uniform,
            POSITIONS,
            WORDS,
            POSITIONS,
            SURFACES,
            Read,
            reprojected,
            surfaces,
            uniform,
            uniform,
        ];
        let shared = [(0, &layouts.frame), (2, &layouts.scene)];
        let path = "passes/reproject.wgsl";
        Self {
            kernel: Kernel::new(gpu, path, "reproject", &shared, &bindings),
            max_history: Uniform::new(gpu, "reproject.max_history"),
            images: Images::new(gpu, UNUSED),
            past: TemporalState::default(),
        }
    }

    /// Finds each pixel's surface in the last frame, if the frame samples a signal.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
        motion: Motion<'_>,
    ) -> Result<Reprojection<'_>> {
        let World {
            frame,
            geometry,
            plan,
            ..
        } = world;
        let gpu = recording.gpu;
        let key = Key::of(frame);
        let size = key.as_ref().map_or(UNUSED, |key| key.size);
        if self.images.reprojected.size() != size {
            self.images = try_create(gpu, size, || Images::new(gpu, size))?;
            self.past.reset();
        }
        let past = self.past.last().and_then(Option::as_ref);
        let past = past.filter(|past| key.as_ref() == Some(&past.key));
        let index = past.map_or(0, |past| past.frames);
        let moves = past.is_some() && plan.changed.contains(&true);
        let since_rest = match past {
            Some(past) if moves || !past.moved => past.since_rest.saturating_add(1),
            _ => 0,
        };
        let longest = key.as_ref().map(Key::longest);
        self.past.set_pending(key.map(|key| Past {
            key,
            frames: index.wrapping_add(1),
            moved: moves,
            since_rest,
        }));
        let [last, now] = self.images.surfaces_of(index);
        let output = Reprojection {
            reprojected: &self.images.reprojected,
            surfaces: now,
            last_surfaces: last,
            index,
            since_rest,
            moves,
        };
        if let Some(longest) = longest {
            self.max_history.write(gpu, &output.max_history(longest));
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
                    output.reprojected,
                    now,
                    motion.params,
                    &self.max_history,
                ],
                frame.size,
                recording.budget.pixels(),
            )?;
        }
        Ok(output)
    }
}

impl Key {
    /// Returns the key, or `None` if the frame samples no averaged signal.
    fn of(frame: &FrameSetup<'_>) -> Option<Self> {
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

    /// Returns the largest history length in frames that any signal uses.
    fn longest(&self) -> u32 {
        let occlusion = self.occlusion.as_ref().map_or(1, |settings| settings.history);
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
            reprojected: image("reproject.reprojected", REPROJECTED_FORMAT),
            surfaces: [(); 2].map(|()| image("reproject.surfaces", SURFACES_FORMAT)),
        }
    }

    /// Returns the surfaces of the last frame, and the surfaces of frame `frame`.
    fn surfaces_of(&self, frame: u32) -> [&GpuImage; 2] {
        let [even, odd] = &self.surfaces;
        match frame.is_multiple_of(2) {
            true => [odd, even],
            false => [even, odd],
        }
    }
}

impl LifeCycle for History {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.past]
    }
}
