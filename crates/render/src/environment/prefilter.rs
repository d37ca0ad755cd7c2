//! `prefilter`: prefilters a cube for specular reflections, with a roughness for each mip level.

use super::{cube::Cube, cube_edges::CubeEdges};
use crate::layout::{
    PREFILTER_FACE_MIN, PREFILTER_LEVELS, PREFILTER_SAMPLES_MAX, PrefilterParams, ROUGHNESS_MIN,
};
use canopy_bvh::{
    Error, Result,
    gpu::{
        Gpu, Kernel, UniformArray, Workgroups,
        pass::Binding::{self, Sampler, StoreArray, Uniform},
        profiler::Scope,
    },
};
use std::{
    collections::{HashMap, hash_map::Entry},
    f64::consts::PI,
};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format};

/// Mip bias that makes the footprints of samples larger than their solid angles require. Footprints that only
/// touch leave ripples around a sun. Overlapping footprints leave hardly any.
const OVERLAP: f64 = 0.25;

/// Number of samples and size of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrefilterSettings {
    /// Samples per texel of the last mip level, at most [`PREFILTER_SAMPLES_MAX`]. Each finer level halves
    /// the number, because it has four times the texels and narrower lobes.
    pub samples: u32,
    /// Approximate number of samples in a step, over all of its texels.
    pub step_samples: u32,
}

impl PrefilterSettings {
    /// Returns the settings for the adapter. On a slow one, steps are short enough for frames to be drawn
    /// between them.
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            samples: 1024,
            step_samples: gpu.capabilities.dispatch_samples,
        }
    }
}

impl PrefilterSettings {
    fn count(self, level: u32, levels: u32) -> u32 {
        let finer = levels.saturating_sub(1 + level).min(31);
        (self.samples >> finer).max(1)
    }
}

/// Pass with its parameters and sample sets.
#[derive(Debug)]
pub struct Prefilter {
    settings: PrefilterSettings,
    kernel: Kernel,
    edges: CubeEdges,
    sampler: wgpu::Sampler,
    /// Parameters of each step, by face and mip levels of the cube.
    params: HashMap<[u32; 2], UniformArray<PrefilterParams>>,
    /// Sample sets by mip level, number of levels and face. A sky that changes every frame reuses them.
    sets: HashMap<[u32; 3], wgpu::Buffer>,
}

/// Part of the work that is recorded at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Step {
    level: u32,
    /// First row and end of the rows of each face.
    rows: [u32; 2],
}

impl Prefilter {
    /// Creates the pass without compiling its pipeline.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] if the number of samples is zero or too large.
    pub fn new(gpu: &Gpu, settings: PrefilterSettings) -> Result<Self> {
        if settings.samples == 0 || settings.samples > PREFILTER_SAMPLES_MAX {
            return Err(Error::Argument(format!(
                "the prefilter takes 1 to {PREFILTER_SAMPLES_MAX} samples, not {}",
                settings.samples
            )));
        }
        let path = "environment/prefilter.wgsl";
        let out = StoreArray(Format::Rgba16Float);
        let bindings = [Uniform, Uniform, Binding::Cube, Sampler, out];
        Ok(Self {
            settings,
            kernel: Kernel::new(gpu, path, "prefilter", &[], &bindings),
            edges: CubeEdges::new(gpu),
            params: HashMap::new(),
            sets: HashMap::new(),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("prefilter"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                ..Default::default()
            }),
        })
    }

    /// Returns the number of mip levels of a prefiltered cube with faces of `face` texels, at most
    /// [`PREFILTER_LEVELS`]. There are at least two, even if the last is smaller than [`PREFILTER_FACE_MIN`],
    /// so that rough surfaces have a mip level.
    pub fn levels(face: u32) -> u32 {
        let above_least = (face / PREFILTER_FACE_MIN).max(2).ilog2() + 1;
        above_least.min(PREFILTER_LEVELS).min(Cube::full_levels(face))
    }

    /// Returns the perceptual roughness of mip level `level` of `levels`. This is the inverse of
    /// `environment_lod` (environment/environment.wgsl).
    pub fn roughness(level: u32, levels: u32) -> f64 {
        (f64::from(level) / f64::from(levels.max(2) - 1)).powf(1.5)
    }

    /// Returns the number of steps that fill a cube like `prefiltered`.
    pub fn steps(&self, prefiltered: &Cube) -> u32 {
        self.plan(prefiltered).len() as u32
    }

    /// Returns the number of samples per texel of a mip level.
    pub fn count(&self, level: u32, levels: u32) -> u32 {
        self.settings.count(level, levels)
    }

    /// Plans the steps. The finest level is a copy of the radiance and a step of its own. Each other level is
    /// divided into slices of rows.
    fn plan(&self, prefiltered: &Cube) -> Vec<Step> {
        let mut plan = vec![Step {
            level: 0,
            rows: [0, prefiltered.face],
        }];
        for level in 1..prefiltered.levels {
            let face = (prefiltered.face >> level).max(1);
            let row_samples = u64::from(6 * face) * u64::from(self.count(level, prefiltered.levels));
            let rows = u64::from(self.settings.step_samples) / row_samples;
            let rows = (rows as u32).max(1);
            plan.extend((0..face).step_by(rows as usize).map(|first| Step {
                level,
                rows: [first, face.min(first + rows)],
            }));
        }
        plan
    }

    /// Records one of the [`Prefilter::steps`], which may run in any order, from `radiance` with all its mip
    /// levels to `prefiltered`. Both cubes are Rgba16Float with the same face size, and `prefiltered` has
    /// [`Prefilter::levels`].
    pub fn record_step(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        radiance: &Cube,
        prefiltered: &Cube,
        step: u32,
    ) -> Result<()> {
        let (index, plan) = (step as usize, self.plan(prefiltered));
        let Some(step) = plan.get(index).copied() else {
            return Ok(());
        };
        if step.level == 0 {
            let mut extent = radiance.texture.size();
            extent.depth_or_array_layers = 6;
            scope.copy_texture_to_texture(
                radiance.texture.as_image_copy(),
                prefiltered.texture.as_image_copy(),
                extent,
            );
            return self.edges.record(gpu, scope, prefiltered);
        }
        let [row_offset, end_row] = step.rows;
        let count = self.count(step.level, prefiltered.levels);
        let params = match self.params.entry([prefiltered.face, prefiltered.levels]) {
            Entry::Occupied(made) => made.into_mut(),
            Entry::Vacant(empty) => {
                let (settings, levels) = (self.settings, prefiltered.levels);
                let of_step = |step: &Step| PrefilterParams {
                    count: settings.count(step.level, levels),
                    row_offset: step.rows[0],
                };
                let params = plan.iter().map(of_step);
                empty.insert(UniformArray::new(gpu, "prefilter.params", params)?)
            }
        };
        let roughness = Self::roughness(step.level, prefiltered.levels);
        let key = [step.level, prefiltered.levels, radiance.face];
        let set = self.sets.entry(key).or_insert_with(|| {
            let mut set = samples(roughness, count, radiance.face);
            set.resize(PREFILTER_SAMPLES_MAX as usize, [0.0; 4]);
            gpu.buffer_with("prefilter.samples", &set, Buffer::UNIFORM)
        });
        let level = prefiltered.level(step.level);
        let face = (prefiltered.face >> step.level).max(1);
        let texels = Workgroups::Grid([face.div_ceil(8), end_row - row_offset, 6]);
        let mut pass = scope.scoped_compute_pass("prefilter");
        self.kernel.dispatch(
            gpu,
            &mut pass,
            &[],
            &[&params.at(index), &*set, &radiance.view, &self.sampler, &level],
            texels,
        )?;
        drop(pass);
        self.edges.record(gpu, scope, prefiltered)
    }
}

/// Returns unit vectors to the light around the normal z, distributed by the GGX normal distribution. The w
/// component is the mip level, in a cube with faces of `face` texels, that matches the sample's footprint
/// (prefilter.wgsl).
pub fn samples(roughness: f64, count: u32, face: u32) -> Vec<[f32; 4]> {
    let alpha2 = roughness.max(ROUGHNESS_MIN).powi(4);
    // Beyond this quantile of the distribution, light comes from below the surface.
    let used = 1.0 / (1.0 + alpha2);
    let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
    (0..count)
        .map(|i| {
            let share = used * (f64::from(i) + 0.5) / f64::from(count);
            // Square of h · n.
            let cosine2 = (1.0 - share) / (1.0 + (alpha2 - 1.0) * share);
            let (n_dot_l, sine) = (2.0 * cosine2 - 1.0, 2.0 * (cosine2 * (1.0 - cosine2)).sqrt());
            let (sin, cos) = (2.0 * PI * (f64::from(i) * golden).fract()).sin_cos();
            let distribution = alpha2 / (PI * (1.0 + (alpha2 - 1.0) * cosine2).powi(2));
            // Density of light directions, which is D · (n · h) / (4 v · h) since n = v.
            let density = distribution / (4.0 * used);
            let solid_angle = 1.0 / (f64::from(count) * density);
            let texel = 4.0 / f64::from(face).powi(2);
            let level = 0.5 * (solid_angle / texel).log2() + OVERLAP;
            [sine * cos, sine * sin, n_dot_l, level].map(|value| value as f32)
        })
        .collect()
}
