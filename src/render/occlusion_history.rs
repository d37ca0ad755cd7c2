//! What `occlusion_rays` and `occlusion_filter` keep from frame to frame.

use super::frame::Prepared;
use crate::{
    Result, config,
    gpu::{Gpu, GpuImage, UniformArray, layout::OcclusionParams},
};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// Means of what is blocked: a share and a direction in 4 × 16 bits.
pub const BLOCKED_FORMAT: Format = Format::Rg32Uint;
/// Surfaces of pixels; and what one frame's rays find, with the normal of the surface's triangle.
pub const SURFACES_FORMAT: Format = Format::Rgba32Uint;
/// Frames that are averaged while something moves: what it uncovers has to brighten, and what it covers to
/// darken.
const MOVING: u32 = 8;
const PARAMS: &str = "occlusion.params";
/// Length of rays that have no end.
const FAR: f32 = 1e30;

/// The history. Without rays there is one texel of each image.
#[derive(Debug)]
pub struct History {
    /// What this frame's rays have found.
    pub fresh: GpuImage,
    /// The result of the filter's second round.
    pub smooth: GpuImage,
    generations: [Generation; 2],
    /// Parameters of each [`Tap`].
    params: UniformArray<OcclusionParams>,
    made_for: Option<Key>,
    /// Frames since the history began; the generation of the last one is number `(frames − 1) % 2`.
    frames: u32,
    /// Whether the last frame has been recorded whole.
    is_whole: bool,
    /// The same, while a frame is being recorded.
    was_whole: bool,
    /// Whether anything moved in the last frame.
    moved: bool,
}

/// What a frame leaves for the next one.
#[derive(Debug)]
pub struct Generation {
    /// Means of what is blocked.
    pub blocked: GpuImage,
    /// The surfaces that they belong to.
    pub surfaces: GpuImage,
}

/// How far apart the filter reads neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tap {
    /// Not at all.
    None,
    /// One pixel.
    Nearest,
    /// Two pixels.
    Near,
    /// Four pixels.
    Far,
}

/// Distance of each [`Tap`] in pixels.
const TAP_STEPS: [u32; 4] = [0, 1, 2, 4];

/// What all frames of a history have in common.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    /// [`SceneBuffers::version`](super::SceneBuffers::version).
    scene: u64,
    size: [u32; 2],
    settings: config::Occlusion,
    blended_cast: bool,
}

impl History {
    /// Without rays.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::of_size(gpu, [1, 1])
    }

    fn of_size(gpu: &Gpu, size: [u32; 2]) -> Result<Self> {
        let params = TAP_STEPS.map(|_| OcclusionParams::default());
        let params = UniformArray::new(gpu, PARAMS, params.into_iter())?;
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let image = |label, format| GpuImage::new(gpu, label, size, format, usage);
        let generation = || Generation {
            blocked: image("occlusion.blocked", BLOCKED_FORMAT),
            surfaces: image("occlusion.surfaces", SURFACES_FORMAT),
        };
        Ok(Self {
            fresh: image("occlusion.fresh", SURFACES_FORMAT),
            smooth: image("occlusion.smooth", BLOCKED_FORMAT),
            generations: [generation(), generation()],
            params,
            made_for: None,
            frames: 0,
            is_whole: false,
            was_whole: false,
            moved: false,
        })
    }

    /// Pixels in a row and rows that the history holds, where there is one.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.made_for.as_ref().map(|key| key.size)
    }

    /// Begins a frame, before anything of it is recorded. Until [`History::settle`] says that the frame has
    /// been recorded whole, the next one begins a history of its own.
    pub fn begin(&mut self) {
        self.was_whole = std::mem::take(&mut self.is_whole);
    }

    /// Makes room for a frame and writes its parameters. `moves` says whether anything in the scene has moved
    /// since the last one.
    pub fn prepare(&mut self, gpu: &Gpu, frame: &Prepared<'_>, moves: bool) -> Result<()> {
        let settings = &frame.config.occlusion;
        let key = Key {
            scene: frame.buffers.version,
            size: frame.size,
            settings: settings.clone(),
            blended_cast: frame.config.shadows.blended_cast,
        };
        let was_whole = std::mem::take(&mut self.was_whole);
        if self.size() != Some(key.size) {
            *self = gpu.catch(|| Self::of_size(gpu, key.size))??;
        }
        let continues = was_whole && self.made_for.as_ref() == Some(&key);
        self.made_for = Some(key);
        if !continues {
            self.frames = 0;
        }
        // Once all stands still, what was found while something moved counts no more.
        let moves = moves && continues;
        let remembered = match (std::mem::replace(&mut self.moved, moves), moves) {
            _ if !continues => 0,
            (true, false) => 0,
            (_, true) => settings.history.min(MOVING) - 1,
            (false, false) => settings.history - 1,
        };
        let params = OcclusionParams {
            index: self.frames,
            rays: settings.rays,
            reach: if settings.radius > 0.0 {
                settings.radius
            } else {
                FAR
            },
            remembered,
            ..OcclusionParams::default()
        };
        let taps = TAP_STEPS.map(|step| OcclusionParams { step, ..params });
        self.params.write_all(gpu, PARAMS, &taps)
    }

    /// The frame has been recorded whole.
    pub fn settle(&mut self) {
        if self.made_for.is_some() {
            self.frames = self.frames.wrapping_add(1);
            self.is_whole = true;
        }
    }

    /// Parameters of a round of the filter that reads neighbours at `tap`.
    pub fn tap_params(&self, tap: Tap) -> wgpu::BufferBinding<'_> {
        self.params.at(tap as usize)
    }

    /// What the last frame left, and where this one leaves the same.
    pub fn generations(&self) -> [&Generation; 2] {
        let [even, odd] = &self.generations;
        if self.frames.is_multiple_of(2) {
            [odd, even]
        } else {
            [even, odd]
        }
    }
}
