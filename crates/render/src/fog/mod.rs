//! Fog that fills the scene. The light of its froxels is averaged over frames and integrated along view rays.

pub mod fog_history;
pub mod fog_integrate;
pub mod fog_light;

use super::{
    bindings::Layouts,
    formats::FROXEL_FORMAT,
    frame::{
        Frame, Integrator,
        life_cycle::{LifeCycle, TemporalState},
        recording::Recording,
    },
    layout::FogParams,
    resources::{FogFroxels, GBuffer, try_create},
    view::View,
    world::World,
};
use crate::settings::{self, Settings};
use canopy_bvh::{
    Result,
    gpu::{Gpu, GpuImage, Uniform, library::wgsl_constants},
};
use canopy_scene::bounds::Aabb;
use fog_history::FogHistory;
use fog_integrate::FogIntegrate;
use fog_light::FogLight;
use glam::{Mat4, Vec3};

/// Natural logarithm of the length ratio of the last froxel slice to the first.
const GROWTH: f64 = 4.0;
/// Optical depth beyond which nothing is visible.
const OPAQUE: f32 = 8.0;
/// Maximum number of froxels in a row.
const MAX_COLUMNS: u32 = 512;

wgsl_constants! {
    const FOG_GROWTH: f64 = GROWTH;
    /// Value of e to the power of `FOG_GROWTH`, minus 1.
    const FOG_SPAN: f64 = 53.598_150_033_144_236;
    /// Roughness for lookups of the sky.
    const FOG_SKY_BLUR: f64 = 0.5;
}

/// Fog passes and their histories. Without fog, each image has one texel.
#[derive(Debug)]
pub struct Fog {
    light: FogLight,
    history: FogHistory,
    integrate: FogIntegrate,
    params: Uniform<FogParams>,
    sampler: wgpu::Sampler,
    images: Images,
    /// Camera of the last frame with fog, and the number of frames before it since the history began.
    past: TemporalState<Option<(Camera, u32)>>,
}

#[derive(Debug)]
struct Images {
    size: [u32; 3],
    /// Noisy visibility of the lights in this frame.
    noisy: GpuImage,
    /// Mean visibility over the last few frames. The two images alternate between frames.
    recent: [GpuImage; 2],
    /// Mean visibility over many frames. The two images alternate between frames.
    mean: [GpuImage; 2],
    light: GpuImage,
    integrated: GpuImage,
}

/// Camera of the froxels of a frame.
#[derive(Debug, Clone, Copy)]
struct Camera {
    /// [`SceneBuffers::version`](super::SceneBuffers::version).
    scene: u64,
    clip_from_offset: Mat4,
    eye: Vec3,
    forward: Vec3,
    far: f32,
}

/// Returns the number of froxels along x and y for a picture of `picture` pixels, and in depth. Returns
/// `None` without fog. The settings must be resolved.
pub(super) fn froxels(fog: &settings::Fog, picture: [u32; 2]) -> Option<[u32; 3]> {
    let [width, height] = picture.map(|side| side.max(1));
    fog.is_enabled().then(|| {
        let rows = fog.rows.min(height);
        let columns = (u64::from(rows) * u64::from(width)).div_ceil(u64::from(height));
        let columns = columns.clamp(1, u64::from(MAX_COLUMNS)) as u32;
        [columns, rows, fog.slices]
    })
}

/// Returns the depth of the far end of the froxels, for a view of a scene with these bounds.
fn far(view: &View, bounds: Aabb, config: &Settings) -> f32 {
    let fog = &config.fog;
    if fog.range > 0.0 {
        return fog.range;
    }
    let depth = |corner: Vec3| (corner - view.eye()).dot(view.forward());
    let farthest = bounds.corners().map(depth).into_iter().fold(0.0, f32::max);
    let least = (0.1 * bounds.radius()).max(10.0 * view.near).max(1e-3);
    let far = farthest.max(least);
    // Uniform fog hides everything farther away.
    match fog.height_falloff {
        0.0 => far.min(OPAQUE / (fog.density * (1.0 - fog.noise)).max(1e-6)),
        _ => far,
    }
}

impl Fog {
    /// Creates the passes without compiling their pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Self {
        Self {
            light: FogLight::new(gpu, layouts),
            history: FogHistory::new(gpu, layouts),
            integrate: FogIntegrate::new(gpu, layouts),
            params: Uniform::new(gpu, "fog.params"),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("fog"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            images: Images::new(gpu, [1; 3]),
            past: TemporalState::default(),
        }
    }

    /// Lights and integrates the froxels of a frame, unless it is path-traced or has no fog.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        gbuffer: &GBuffer,
    ) -> Result<FogFroxels<'_>> {
        let World { frame, .. } = world;
        let gpu = recording.gpu;
        let size =
            froxels(&frame.config.fog, frame.size).filter(|_| matches!(frame.integrator, Integrator::Hybrid));
        if self.images.size != size.unwrap_or([1; 3]) {
            let size = size.unwrap_or([1; 3]);
            self.images = try_create(gpu, frame.size, || Images::new(gpu, size))?;
            self.past.reset();
        }
        let Some(size) = size else {
            self.past.set_pending(None);
            return Ok(self.output());
        };
        let now = Camera::of(frame);
        let past = self.past.last().copied().flatten();
        let past = past.filter(|(last, _)| last.scene == now.scene);
        let frames = past.map_or(0, |(_, frames)| frames.saturating_add(1));
        self.past.set_pending(Some((now, frames)));
        let last = past.map(|(last, _)| last);
        self.params.write(gpu, &params(frame, size, (now, last), frames));
        let Images {
            noisy,
            light,
            integrated,
            ..
        } = &self.images;
        let [recent, last_recent] = ordered(&self.images.recent, frames);
        let [mean, last_mean] = ordered(&self.images.mean, frames);
        let froxels = (size, (&self.params, &self.sampler));
        let found = [last_recent, noisy, recent];
        self.light.record(recording, world, gbuffer, froxels, found)?;
        let means = [last_mean, mean, light];
        self.history
            .record(recording, frame, froxels, [noisy, recent], means)?;
        self.integrate
            .record(recording, frame, (size, &self.params), light, integrated)?;
        Ok(self.output())
    }

    /// Returns the number of frames until the averages of a still picture converge, or 1 without averaging.
    pub fn frames_to_converge(config: &Settings) -> u32 {
        match config.fog.is_enabled() {
            true => config.fog.history,
            false => 1,
        }
    }

    /// Returns the fog of the last frame.
    pub fn output(&self) -> FogFroxels<'_> {
        FogFroxels {
            params: &self.params,
            light: &self.images.light,
            integrated: &self.images.integrated,
            sampler: &self.sampler,
        }
    }
}

/// Returns the image of this frame and the image of the last frame.
fn ordered([even, odd]: &[GpuImage; 2], frames: u32) -> [&GpuImage; 2] {
    match frames % 2 {
        0 => [even, odd],
        _ => [odd, even],
    }
}

fn params(
    frame: &Frame<'_>,
    size: [u32; 3],
    (now, last): (Camera, Option<Camera>),
    frames: u32,
) -> FogParams {
    let fog = &frame.config.fog;
    let before = last.unwrap_or(now);
    FogParams {
        last_clip_from_offset: before.clip_from_offset.to_cols_array_2d(),
        last_eye: before.eye.to_array(),
        last_far: before.far,
        last_forward: before.forward.to_array(),
        far: now.far,
        medium: frame.fog_medium(),
        size,
        max_history: (fog.history - 1).min(frames),
        sky_rays: u32::from(frame.samples_occlusion),
        ..FogParams::default()
    }
}

impl Images {
    fn new(gpu: &Gpu, size: [u32; 3]) -> Self {
        let [columns, rows, slices] = size;
        let usage = wgpu::TextureUsages::STORAGE_BINDING | wgpu::TextureUsages::TEXTURE_BINDING;
        let image =
            |label, layers| GpuImage::with_layers(gpu, label, [columns, rows], layers, FROXEL_FORMAT, usage);
        Self {
            size,
            noisy: image("fog.noisy", 2 * slices),
            recent: [(); 2].map(|()| image("fog.recent", 2 * slices)),
            mean: [(); 2].map(|()| image("fog.mean", 2 * slices)),
            light: image("fog.light", slices),
            integrated: image("fog.integrated", slices + 1),
        }
    }
}

impl Camera {
    fn of(frame: &Frame<'_>) -> Self {
        let view = &frame.view;
        Self {
            scene: frame.buffers.version,
            clip_from_offset: view.clip_from_offset(frame.aspect()),
            eye: view.eye(),
            forward: view.forward(),
            far: far(view, frame.bounds, &frame.config),
        }
    }
}

impl LifeCycle for Fog {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.past]
    }
}
