//! `path`: reference path tracer. It traces one sample per pixel at a time, and their mean becomes the
//! frame's radiance.

pub mod path_stages;
pub mod path_sums;
pub mod path_table;
pub(super) mod path_volumes;

use super::{
    bindings::Layouts,
    frame::{Frame, life_cycle::LifeCycle, recording::Recording},
    layout::{Light, PathParams},
    resources::{HDR_FORMAT, Radiance, try_create},
    stats::FrameStats,
    world::World,
};
use crate::settings::{self, PathKernels, Settings};
use canopy_bvh::{
    Result,
    gpu::{
        Bind, Gpu, GpuImage, Kernel, UniformArray, Variants,
        pass::Binding::{Float, Store, Uniform, Write},
    },
};
use canopy_scene::Pose;
use path_stages::PathStages;
use path_sums::PathSums;
use path_table::{PATH_PARTS, PathTable, path_parts};
use std::ops::Range;
use wgpu::{BufferUsages as Buffer, TextureFormat as Format, TextureUsages as Usage};

/// Maximum number of samples per pixel that a frame adds.
pub const MAX_ADDED: u32 = 64;

const LABEL: &str = "path";

const SUMS: Buffer = Buffer::STORAGE.union(Buffer::COPY_SRC).union(Buffer::COPY_DST);

/// Pipelines of the pass and its sums of samples.
#[derive(Debug)]
pub struct Paths {
    path: Variants<{ PATH_PARTS.len() }>,
    stages: PathStages,
    accumulate: Kernel,
    resolve: Kernel,
    params: UniformArray<PathParams>,
    sample: GpuImage,
    sums: wgpu::Buffer,
    output: Radiance,
    /// State that the samples belong to.
    key: Option<AccumulationKey>,
    samples: u32,
    /// Number of samples whose sums were restored, until a frame continues from them.
    restored: Option<u32>,
    /// State and number of samples after the last frame, until it is committed.
    pending: Option<(AccumulationKey, u32)>,
    /// True if the last frame was path traced.
    are_shown: bool,
}

/// Everything that radiance depends on. As long as it is unchanged, samples accumulate.
#[derive(Debug, Clone, PartialEq)]
struct AccumulationKey {
    version: u64,
    /// Index of the first sample.
    first: u32,
    environment: (u64, bool),
    size: [u32; 2],
    clip_from_offset: [[f32; 4]; 4],
    eye: [f32; 3],
    near: f32,
    lights: Vec<Light>,
    pose: Pose,
    config: Settings,
    /// Exposure in stops, or 0 if neither the background nor a material has a fixed display colour.
    exposure_ev: f32,
}

impl Paths {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu, layouts: &Layouts) -> Result<Self> {
        let shared = [(0, &layouts.frame), (1, &layouts.tree), (2, &layouts.scene)];
        let sample = Store(Format::Rgba32Float);
        let own = [Uniform, Uniform, PathTable::BINDING, sample];
        let out = Store(HDR_FORMAT);
        let of_sums = [Uniform, Uniform, Write, Float, out, out];
        let summing = "path/path_accumulate.wgsl";
        let sums = |entry| Kernel::new(gpu, summing, entry, &[(0, &layouts.frame)], &of_sums);
        Ok(Self {
            path: Variants::new(PATH_PARTS, |constants| {
                let path = "path/path.wgsl";
                Kernel::with_constants(gpu, path, "path", &shared, &own, constants)
            }),
            stages: PathStages::new(gpu, layouts)?,
            accumulate: sums("path_accumulate"),
            resolve: sums("path_resolve"),
            params: UniformArray::new(gpu, LABEL, std::iter::empty())?,
            sample: sample_image(gpu, [1, 1]),
            sums: gpu.buffer("path.sums", PathSums::PIXEL_BYTES, SUMS),
            output: Radiance::new(gpu, [1, 1]),
            key: None,
            samples: 0,
            restored: None,
            pending: None,
            are_shown: false,
        })
    }

    /// Adds up to `added` samples of each pixel and returns the mean of all. `part` is the range of sample
    /// indices to render; `None` is all samples of the settings.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        world: World<'_>,
        table: &PathTable,
        (part, added): (Option<&Range<u32>>, u32),
    ) -> Result<&Radiance> {
        let World {
            frame,
            geometry,
            trees,
            environment,
            ..
        } = world;
        let gpu = recording.gpu;
        self.fit(gpu, frame.size)?;
        let state = environment.state();
        let is_part = part.is_some();
        let part = part.cloned().unwrap_or(0..frame.config.paths.samples);
        let key = AccumulationKey::new(frame, state, part.start);
        // With an explicit range, accumulation restarts if it already has more samples than the range.
        // Without one, it keeps all samples, for example after `paths.samples` is lowered.
        let has_more = is_part && self.samples as usize > part.len();
        let is_new = self.key.as_ref() != Some(&key) || has_more;
        let before = match is_new {
            true => self.restored.unwrap_or(0),
            false => self.samples,
        };
        let target = part.len() as u32;
        let added = added.clamp(1, MAX_ADDED).min(target.saturating_sub(before));
        if before == 0 {
            recording.scope.clear_buffer(&self.sums, 0, None);
        }
        let samples: Vec<_> = (before..before + added.max(1))
            .map(|number| PathParams {
                count: (before + added).max(1),
                ..table.params(frame, part.start + number)
            })
            .collect();
        self.params.write_all(gpu, LABEL, &samples)?;
        let shared = [
            (0, &frame.group),
            (1, trees.rays(recording)?),
            (2, geometry.group),
        ];
        // A pixel casts several rays for each surface along a path.
        let most = recording.budget.pixels() / (2 * frame.config.paths.bounces.max(1));
        let is_separate = frame.config.paths.kernels == PathKernels::Separate;
        for number in 0..added as usize {
            let params = self.params.at(number);
            if is_separate {
                self.stages
                    .record(recording, world, &params, table, &self.sample)?;
            } else {
                let path = self.path.get(path_parts(&frame.config, geometry.buffers));
                let own: &[&dyn Bind] = &[&params, &table.buffer, &self.sample];
                recording.dispatch_pixels(LABEL, path, &shared, own, frame.size, most)?;
            }
            self.sum(recording, frame, &self.accumulate, number)?;
        }
        self.sum(recording, frame, &self.resolve, 0)?;
        let samples_done = before + added;
        self.pending = Some((key, samples_done));
        self.output.path_samples = Some(samples_done);
        Ok(&self.output)
    }

    fn sum(
        &self,
        recording: &mut Recording<'_>,
        frame: &Frame<'_>,
        kernel: &Kernel,
        number: usize,
    ) -> Result<()> {
        let params = self.params.at(number);
        let output = &self.output;
        let own: &[&dyn Bind] = &[&params, &self.sums, &self.sample, &output.hdr, &output.display];
        let pixels = recording.budget.pixels();
        let shared = [(0, &frame.group)];
        recording.dispatch_pixels("path_accumulate", kernel, &shared, own, frame.size, pixels)
    }

    /// Returns the number of samples per pixel so far.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Discards all samples.
    pub fn restart(&mut self) {
        (self.key, self.pending, self.restored, self.samples) = (None, None, None, 0);
    }

    /// Restores the sums of the first `samples` samples. The next frame, which must have the size of `sums`,
    /// continues from them.
    pub fn restore(&mut self, gpu: &Gpu, sums: &PathSums, samples: u32) -> Result<()> {
        self.fit(gpu, sums.size)?;
        self.restart();
        gpu.queue
            .write_buffer(&self.sums, 0, bytemuck::cast_slice(&sums.pixels));
        self.restored = Some(samples);
        Ok(())
    }

    /// Returns the radiance of the last path-traced frame.
    pub fn output(&self) -> &Radiance {
        &self.output
    }

    /// Forwards to [`PathStages::lengths`].
    pub fn lengths(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        self.stages.lengths(gpu)
    }

    /// Reads back the sums and blocks until they arrive.
    pub fn read(&self, gpu: &Gpu) -> Result<PathSums> {
        let size = self.output.size();
        let pixels = size[0] as usize * size[1] as usize;
        Ok(PathSums {
            size,
            pixels: gpu.read_first(&self.sums, pixels)?,
        })
    }

    fn fit(&mut self, gpu: &Gpu, size: [u32; 2]) -> Result<()> {
        if self.output.size() == size {
            return Ok(());
        }
        let [width, height] = size;
        let bytes = PathSums::PIXEL_BYTES * u64::from(width) * u64::from(height);
        gpu.check_binding(&format!("the sums of {width} × {height} pixels' paths"), bytes)?;
        self.restart();
        (self.sums, self.sample, self.output) = try_create(gpu, size, || {
            (
                gpu.buffer("path.sums", bytes, SUMS),
                sample_image(gpu, size),
                Radiance::new(gpu, size),
            )
        })?;
        Ok(())
    }
}

impl AccumulationKey {
    fn new(frame: &Frame<'_>, environment: (u64, bool), first: u32) -> Self {
        let view = &frame.view;
        // Settings that do not affect radiance are left at their defaults. These include the choice of
        // kernels and the number of samples, which may grow.
        let mut config = Settings::default();
        config.image.background = frame.config.image.background;
        let is_plain = !frame.config.environment.is_visible() && !frame.is_transparent();
        let is_given = is_plain || frame.scene.materials.iter().any(|material| material.unlit);
        config.environment = frame.config.environment.clone();
        config.sun = frame.config.sun.clone();
        config.materials = frame.config.materials.clone();
        config.volumes = frame.config.volumes.clone();
        let froxels = config.fog.clone();
        config.fog = settings::Fog {
            range: froxels.range,
            rows: froxels.rows,
            slices: froxels.slices,
            history: froxels.history,
            ..frame.config.fog.clone()
        };
        config.paths = settings::Paths {
            bounces: frame.config.paths.bounces,
            clamp: frame.config.paths.clamp,
            ..config.paths
        };
        Self {
            version: frame.buffers.version,
            first,
            environment,
            size: frame.size,
            clip_from_offset: view.clip_from_offset(frame.aspect()).to_cols_array_2d(),
            eye: view.eye().to_array(),
            near: view.near,
            lights: frame.lights.clone(),
            pose: frame.pose.clone().into_owned(),
            config,
            exposure_ev: match is_given {
                true => frame.exposure_ev,
                false => 0.0,
            },
        }
    }
}

fn sample_image(gpu: &Gpu, size: [u32; 2]) -> GpuImage {
    let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
    GpuImage::new(gpu, "path.sample", size, Format::Rgba32Float, usage)
}

impl LifeCycle for Paths {
    fn begin(&mut self) {
        self.pending = None;
    }

    fn commit(&mut self) {
        self.are_shown = self.pending.is_some();
        if let Some((key, samples_done)) = self.pending.take() {
            (self.key, self.samples, self.restored) = (Some(key), samples_done, None);
        }
    }

    fn abort(&mut self) {
        self.pending = None;
    }

    fn report(&mut self, stats: &mut FrameStats) {
        stats.path_samples = self.are_shown.then_some(self.samples);
    }

    fn invalidate(&mut self) {
        self.restart();
        self.are_shown = false;
    }
}
