//! What is open of the light from everywhere, from frame to frame: what `occlusion_rays` and `occlusion_filter` read and leave.

use super::{FrameInput, View, scene_buffers::columns, targets::Target};
use crate::{
    Result, config,
    gpu::{Gpu, layout::OcclusionParams},
    scene::Projection,
};
use glam::{Mat4, Vec3};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format, TextureUsages as Usage};

/// Means of what is blocked: a share and a direction in 4 × 16 bits.
pub const BLOCKED_FORMAT: Format = Format::Rg32Uint;
/// Where surfaces are; and what one frame's rays find, with the normal of the surface's triangle.
pub const PLACES_FORMAT: Format = Format::Rgba32Uint;
/// Rays that go in all directions take about as much longer than those to a light.
const SLOWER: u32 = 4;
/// Frames that count while something moves: what it leaves has to open, and what it comes to to close.
const MOVING: u32 = 8;
/// Far away, where rays have no end.
const FAR: f32 = 1e30;

/// What lives longer than a frame. Without rays there is one texel of each.
#[derive(Debug)]
pub struct Occlusion {
    /// What this frame's rays have found.
    pub fresh: Target,
    /// An open direction and share a pixel: common/open.wgsl.
    pub words: wgpu::Buffer,
    /// Between two rounds of the filter.
    pub smooth: Target,
    memories: [Memory; 2],
    made_for: Option<Key>,
    /// Frames since the history began; the memory of the last one is number `(frames − 1) % 2`.
    frames: u32,
    /// From where the last frame was seen.
    last: Option<(Mat4, Vec3)>,
    /// Whether anything moved then.
    moved: bool,
    /// The frame that is being recorded.
    params: OcclusionParams,
}

/// What a frame leaves for the next one.
#[derive(Debug)]
pub struct Memory {
    /// What is blocked.
    pub blocked: Target,
    /// Of which surfaces.
    pub places: Target,
}

/// What all frames of a history have in common.
#[derive(Debug, Clone, PartialEq)]
struct Key {
    /// [`SceneBuffers::version`](super::SceneBuffers::version)
    scene: u64,
    size: [u32; 2],
    settings: config::Occlusion,
    blended_cast: bool,
}

impl Occlusion {
    /// Without rays.
    pub fn new(gpu: &Gpu) -> Self {
        Self::of_size(gpu, [1, 1], None)
    }

    fn of_size(gpu: &Gpu, size: [u32; 2], made_for: Option<Key>) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        let target = |label, format| Target::new(gpu, label, size, format, usage);
        let memory = || Memory {
            blocked: target("occlusion.blocked", BLOCKED_FORMAT),
            places: target("occlusion.places", PLACES_FORMAT),
        };
        let bytes = 4 * u64::from(size[0]) * u64::from(size[1]);
        Self {
            fresh: target("occlusion.fresh", PLACES_FORMAT),
            words: gpu.buffer("occlusion.words", bytes, Buffer::STORAGE | Buffer::COPY_SRC),
            smooth: target("occlusion.smooth", BLOCKED_FORMAT),
            memories: [memory(), memory()],
            made_for,
            frames: 0,
            last: None,
            moved: false,
            params: OcclusionParams::default(),
        }
    }

    /// Begins a frame, whose rays are sent where `on`. `moves` says whether anything in the scene has moved since the last one. Until
    /// [`Occlusion::settle`] says that the frame has been recorded, the next one begins a history of its own.
    pub fn begin(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        on: bool,
        moves: bool,
    ) -> Result<()> {
        if !on {
            if self.made_for.is_some() {
                *self = Self::new(gpu);
            }
            return Ok(());
        }
        let settings = &input.config.occlusion;
        let key = Key {
            scene: input.buffers.version,
            size: input.size,
            settings: settings.clone(),
            blended_cast: input.config.shadows.blended_cast,
        };
        let last = self.last.take();
        if self.made_for.as_ref().map(|made| made.size) != Some(key.size) {
            let [width, height] = key.size;
            let bytes = 4 * u64::from(width) * u64::from(height);
            let what = format!("the ambient occlusion of {width} × {height} pixels");
            gpu.check_binding(&what, bytes)?;
            *self = gpu.catch(|| Self::of_size(gpu, key.size, None))?;
        }
        let goes_on = last.filter(|_| self.made_for.as_ref() == Some(&key));
        self.made_for = Some(key);
        if goes_on.is_none() {
            self.frames = 0;
        }
        // Once all is at rest, what was found out on the way counts no more.
        let moves = moves && goes_on.is_some();
        let remembered = match (std::mem::replace(&mut self.moved, moves), moves) {
            _ if goes_on.is_none() => 0,
            (true, false) => 0,
            (_, true) => settings.history.min(MOVING) - 1,
            (false, false) => settings.history - 1,
        };
        let eye = input.view.eye();
        let now = input.view.clip_from_offset(input.aspect());
        let (last, last_eye) = goes_on.unwrap_or((now, eye));
        self.params = OcclusionParams {
            clip_from_offset: columns(now),
            last_clip_from_offset: columns(last),
            last_eye: last_eye.to_array(),
            index: self.frames,
            rays: settings.rays,
            reach: if settings.radius > 0.0 {
                settings.radius
            } else {
                FAR
            },
            remembered,
            pixel_side: pixel_side(&input.view, input.size[1]),
            ..OcclusionParams::default()
        };
        Ok(())
    }

    /// The frame has been recorded whole.
    pub fn settle(&mut self, view: &View, aspect: f32) {
        if self.made_for.is_some() {
            self.frames = self.frames.wrapping_add(1);
            self.last = Some((view.clip_from_offset(aspect), view.eye()));
        }
    }

    /// What the last frame left, and where this one leaves the same.
    pub fn memories(&self) -> [&Memory; 2] {
        let [even, odd] = &self.memories;
        if self.frames.is_multiple_of(2) {
            [odd, even]
        } else {
            [even, odd]
        }
    }

    /// Parameters of a dispatch that traces rows from `first_row` on, or filters with taps `step` pixels apart.
    pub fn params(&self, gpu: &Gpu, first_row: u32, step: u32) -> wgpu::Buffer {
        let params = OcclusionParams {
            first_row,
            step,
            ..self.params
        };
        gpu.buffer_with("occlusion.params", &[params], Buffer::UNIFORM)
    }

    /// Pixels whose light from everywhere is traced.
    pub fn pixels(&self) -> usize {
        let [width, height] = self.size().map(|side| side as usize);
        self.made_for.as_ref().map_or(0, |_| width * height)
    }

    fn size(&self) -> [u32; 2] {
        [self.fresh.texture.width(), self.fresh.texture.height()]
    }

    /// First row and height of the bands that are traced one after another, where a batch of shadow rays has up to `batch_rays`.
    pub fn bands(&self, batch_rays: u32) -> Vec<[u32; 2]> {
        bands(self.size(), self.params.rays, batch_rays / SLOWER)
    }
}

/// Bands of whole tiles of 8 × 8 pixels, each of up to `most` rays or of a row of tiles where that alone is more.
fn bands([width, height]: [u32; 2], rays: u32, most: u32) -> Vec<[u32; 2]> {
    let rows = most / (width * rays.max(1)).max(1) / 8 * 8;
    let rows = rows.clamp(8, height.next_multiple_of(8));
    (0..height)
        .step_by(rows as usize)
        .map(|first| [first, rows.min(height - first)])
        .collect()
}

/// Side of a pixel in metres at the eye, and what a metre of depth adds to it.
fn pixel_side(view: &View, rows: u32) -> [f32; 2] {
    let rows = rows.max(1) as f32;
    match view.projection {
        Projection::Perspective { fov_y } => [0.0, 2.0 * (0.5 * fov_y).tan() / rows],
        Projection::Orthographic { half_height } => [2.0 * half_height / rows, 0.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_hold_every_row_once_and_no_more_rays_than_they_may() {
        for size in [[1, 1], [480, 360], [3840, 2160], [16384, 16383]] {
            for (rays, most) in [(1, 1 << 14), (2, 1 << 18), (16, 1 << 22), (1, u32::MAX)] {
                let mut row = 0;
                for [first, rows] in bands(size, rays, most) {
                    assert_eq!((first, first % 8), (row, 0));
                    assert!(rows <= 8 || rows * size[0] * rays <= most, "{size:?}");
                    row += rows;
                }
                assert_eq!(row, size[1]);
            }
        }
    }
}
