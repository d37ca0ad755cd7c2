//! `environment`: image-based lighting. A cube map of radiance becomes spherical harmonics for diffuse
//! surfaces and a prefiltered cube for glossy ones. They are updated whenever the file, the sky or its sun
//! changes.

pub mod brdf_table;
mod cube;
mod cube_edges;
pub mod cube_mips;
pub mod equirect;
pub mod prefilter;
pub mod project_sh;
pub mod sky;

pub use cube::Cube;
pub use project_sh::ProjectSh;
pub use sky::{SkyParams, daylight, disc_transmittance, transmittance};

use super::frame::{life_cycle::LifeCycle, recording::Recording};
use crate::settings::{Settings, Switch};
use brdf_table::BrdfTable;
use canopy_bvh::{
    Result,
    gpu::{Gpu, profiler::Scope},
};
use canopy_scene;
use canopy_scene::{
    atmosphere,
    environment::{EnvironmentImage, Sun, load, studio},
};
use cube_mips::CubeMips;
use equirect::{Equirect, EquirectImage};
use glam::{Quat, Vec2, Vec3};
use prefilter::{Prefilter, PrefilterSettings};
use sky::Sky;
use std::path::Path;
use wgpu::TextureFormat as Format;

/// Format of stored radiance.
const FORMAT: Format = Format::Rgba16Float;

/// Texels along an edge of the cube of a uniform colour, which has no detail.
const COLOR_FACE: u32 = 8;

/// Maximum number of texels along an edge of the sky's cube.
const SKY_FACE: u32 = 256;

/// Source of the radiance. Its values are taken from the configuration, so equal origins need no work.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Origin {
    /// Colour whose largest channel is 1, or black.
    Color(Vec3),
    Sky(SkyParams),
    /// Number of files set so far.
    File(u64),
    Studio,
}

/// Placement and scale of a frame's environment light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Factor from stored to actual radiance.
    pub scale: f32,
    /// Cosine and sine of the rotation about +Y.
    pub turn: Vec2,
    /// Unit vector to the sun.
    pub to_sun: Vec3,
    /// Illuminance of the visible sun disc before the scale, or zero without a sun.
    pub sun_disc: Vec3,
    /// Sine of the elevation below which the ground hides the sun.
    pub sun_horizon: f32,
    /// Half the angular diameter of the sun of an image in radians. `None` means that the settings determine
    /// it.
    pub sun_radius: Option<f32>,
}

/// State of the cubes.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// Source of the radiance and texels along an edge of its cube.
    made: Option<(Origin, u32)>,
    /// Number of bands of the spherical harmonics.
    order: u32,
    /// Index of the prefiltered cube that is in use.
    shown: usize,
    /// Next prefiltering step of the cube that is being filled.
    step: Option<u32>,
    /// True if the radiance has changed since those steps began.
    stale: bool,
    /// Scale of the stored radiance and whether it rotates. A cube cannot stand in for another that differs
    /// in either.
    held: (f32, bool),
}

/// Environment passes and the light that they produce.
#[derive(Debug)]
pub struct Environment {
    equirect: Equirect,
    sky: Sky,
    cube_mips: CubeMips,
    /// Projection pass. Its result is bound as `environment_sh` (environment/environment.wgsl).
    pub project_sh: ProjectSh,
    prefilter: Prefilter,
    /// BRDF table pass. Its buffer is bound as `brdf_table` (environment/environment.wgsl).
    pub brdf_table: BrdfTable,
    studio: EquirectImage,
    /// Image file of the configuration, and the number of files set so far.
    file: Option<EquirectImage>,
    files: u64,
    radiance: Cube,
    /// Prefiltered radiance, with a roughness for each mip level. One cube is in use while the other is being
    /// filled.
    prefiltered: [Cube; 2],
    progress: Progress,
    /// State before the recorded frame, as long as the frame can be undone.
    before: Option<Progress>,
    /// True if the last frame recorded anything.
    records: bool,
    /// Trilinear sampler.
    pub sampler: wgpu::Sampler,
}

/// Loads an environment's file. `most` limits its longer side in texels, see [`most_texels`]. Applies the
/// limits of `load` and removes the sun if `environment.sun` is set.
///
/// # Errors
///
/// Any error of [`load`].
pub fn load_environment(path: &Path, config: &Settings, most: u32) -> canopy_scene::Result<EnvironmentImage> {
    let mut image = load(path, &config.load, most)?;
    if config.environment.sun {
        image.take_sun();
    }
    Ok(image)
}

/// Returns the maximum number of texels along a file's longer side that can be visible.
pub fn most_texels(gpu: &Gpu, config: &Settings) -> u32 {
    // The image is four faces wide, and a texel of the cube covers two of its texels.
    let most = 8 * largest_face(gpu).max(config.environment.face);
    most.min(gpu.limits.max_texture_dimension_2d)
}

/// Returns the number of texels along an edge of the largest cube that the automatic choice makes.
fn largest_face(gpu: &Gpu) -> u32 {
    gpu.capabilities.cube_face
}

/// Returns the sky parameters of the configuration if it has a sky. The sun has the illuminance of the
/// settings when it is at the zenith, times [`sky_gain`].
fn sky_of(config: &Settings) -> Option<SkyParams> {
    if !config.environment.is_sky() {
        return None;
    }
    let mut sky = SkyParams {
        to_sun: config.sun.to_sun().to_array(),
        haze: config.environment.haze,
        ground_albedo: config.environment.ground_albedo,
        ..SkyParams::default()
    };
    let at_zenith = transmittance(Vec3::Y, &sky).max(Vec3::splat(1e-6));
    let illuminance = Vec3::from(config.sun.color) * config.sun.strength / at_zenith;
    sky.illuminance = (illuminance * sky_gain(config)).to_array();
    Some(sky)
}

/// Returns the power of two by which the stored sky is scaled, because half floats can represent neither a
/// millionth of daylight nor a hundred thousand lux.
fn sky_gain(config: &Settings) -> f32 {
    let sun = Vec3::from(config.sun.color).max_element() * config.sun.strength;
    let given = daylight(config.sun.to_sun()) * sun;
    if given > 0.0 {
        (-given.log2()).round().clamp(-60.0, 60.0).exp2()
    } else {
        1.0
    }
}

/// Returns the illuminance of the settings' sun in lux for each channel. If there is a sky, its atmosphere
/// attenuates the sun.
pub fn sun_illuminance(config: &Settings) -> Vec3 {
    let to_sun = config.sun.to_sun();
    match sky_of(config) {
        Some(sky) => Vec3::from(sky.illuminance) * transmittance(to_sun, &sky) / sky_gain(config),
        None => Vec3::from(config.sun.color) * config.sun.strength,
    }
}

/// Returns the sun of the environment's image in world space. The image is the studio, or a file with the sun
/// `of_file`. Returns `None` if another environment or the settings' sun replaces it.
pub fn environment_sun(of_file: Option<Sun>, config: &Settings) -> Option<Sun> {
    let environment = &config.environment;
    let sun = match environment.is_studio() {
        true => Some(studio::key()).filter(|_| config.sun.enabled == Switch::Auto),
        false => of_file.filter(|_| environment.is_file() && config.sun.enabled != Switch::On),
    };
    let sun = sun?;
    let turn = Quat::from_rotation_y(config.environment.rotation.to_radians());
    Some(Sun {
        to_sun: turn * sun.to_sun,
        ..sun
    })
}

impl Environment {
    /// Creates the passes without compiling their pipelines.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let cube = |label| Cube::new(gpu, label, COLOR_FACE, Prefilter::levels(COLOR_FACE), FORMAT);
        Ok(Self {
            equirect: Equirect::new(gpu),
            sky: Sky::new(gpu),
            cube_mips: CubeMips::new(gpu),
            project_sh: ProjectSh::new(gpu),
            prefilter: Prefilter::new(gpu, PrefilterSettings::new(gpu))?,
            brdf_table: BrdfTable::new(gpu),
            studio: EquirectImage::new(gpu, studio::image())?,
            file: None,
            files: 0,
            radiance: cube("radiance")?,
            prefiltered: [cube("prefiltered")?, cube("prefiltered")?],
            progress: Progress::default(),
            before: None,
            records: false,
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("environment"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                mipmap_filter: wgpu::MipmapFilterMode::Linear,
                ..Default::default()
            }),
        })
    }

    /// Sets the image of the configuration's file.
    pub fn set_file(&mut self, gpu: &Gpu, image: Option<&EnvironmentImage>) -> Result<()> {
        self.file = image.map(|image| EquirectImage::new(gpu, image)).transpose()?;
        self.files += 1;
        Ok(())
    }

    /// Returns the prefiltered radiance, with a roughness for each mip level.
    pub fn prefiltered(&self) -> &Cube {
        &self.prefiltered[self.progress.shown]
    }

    /// True if steps remain until the environment matches the last settings.
    pub fn is_pending(&self) -> bool {
        self.progress.stale || self.progress.step.is_some()
    }

    /// Returns the placement of the light of `config`. A sky shows the disc of the sun only if `shines` is
    /// true.
    pub fn place(&self, config: &Settings, shines: bool) -> Placement {
        let environment = &config.environment;
        let to_sun = config.sun.to_sun();
        let mut placement = Placement {
            scale: environment.intensity,
            turn: Vec2::X,
            to_sun,
            sun_disc: Vec3::ZERO,
            sun_horizon: -2.0,
            sun_radius: None,
        };
        match self.origin(config) {
            Origin::Color(_) => placement.scale *= Vec3::from(environment.color).max_element(),
            Origin::Sky(sky) => {
                placement.scale /= sky_gain(config);
                if shines {
                    let through_air = disc_transmittance(to_sun, &sky);
                    placement.sun_disc = Vec3::from(sky.illuminance) * through_air;
                    placement.sun_horizon = atmosphere::horizon(atmosphere::EYE) as f32;
                }
            }
            Origin::File(_) | Origin::Studio => {
                let scale = self.picture(config).map_or(0.0, |picture| picture.scale);
                placement.scale *= scale;
                placement.turn = Vec2::from_angle(environment.rotation.to_radians());
                let of_file = self.file.as_ref().and_then(|file| file.sun);
                if let Some(sun) = environment_sun(of_file, config) {
                    placement.to_sun = sun.to_sun;
                    placement.sun_disc = sun.illuminance / scale;
                    placement.sun_radius = Some(sun.radius);
                }
            }
        }
        placement
    }

    /// Returns the image of the environment in `config`, if it has one.
    fn picture(&self, config: &Settings) -> Option<&EquirectImage> {
        match config.environment.is_studio() {
            true => Some(&self.studio),
            false => self.file.as_ref().filter(|_| config.environment.is_file()),
        }
    }

    /// Returns the sun of the file in `config` in world space, if it shines.
    pub fn file_sun(&self, config: &Settings) -> Option<Sun> {
        let file = self.file.as_ref().filter(|_| config.environment.is_file());
        environment_sun(file?.sun, config)
    }

    fn origin(&self, config: &Settings) -> Origin {
        let environment = &config.environment;
        if let Some(sky) = sky_of(config) {
            Origin::Sky(sky)
        } else if environment.is_studio() {
            Origin::Studio
        } else if environment.is_file() && self.file.is_some() {
            Origin::File(self.files)
        } else {
            let color = Vec3::from(environment.color);
            Origin::Color(color / color.max_element().max(f32::MIN_POSITIVE))
        }
    }

    /// Returns the number of texels along an edge of the cube for a source of radiance.
    fn face(&self, gpu: &Gpu, config: &Settings, origin: Origin) -> u32 {
        let wanted = config.environment.face;
        let chosen = match origin {
            Origin::Color(_) => return COLOR_FACE,
            // A larger cube would show no more detail of a sky.
            Origin::Sky(_) if wanted > 0 => {
                return wanted.next_power_of_two().min(SKY_FACE);
            }
            Origin::Sky(_) => gpu.capabilities.sky_face,
            Origin::File(_) | Origin::Studio => {
                let most = largest_face(gpu);
                self.picture(config)
                    .map_or(COLOR_FACE, |picture| picture.face(most))
            }
        };
        match wanted {
            0 => chosen.clamp(16, largest_face(gpu)),
            face => face,
        }
        .next_power_of_two()
    }

    /// Returns a key that changes whenever the file is replaced or the pending work completes.
    pub fn state(&self) -> (u64, bool) {
        (self.files, self.is_pending())
    }

    /// Returns the finest mip level whose faces have at most `most` texels along an edge, and their number.
    pub fn level(&self, most: u32) -> (wgpu::TextureView, u32) {
        let levels = self.radiance.texture.mip_level_count();
        let face = |level: u32| (self.radiance.face >> level).max(1);
        let level = (0..levels).find(|level| face(*level) <= most);
        let level = level.unwrap_or(levels - 1);
        (self.radiance.level(level), face(level))
    }

    /// Updates the environment to `config`. If `spreads` is true, a slow adapter does part of the
    /// prefiltering in later frames. Until it is complete, reflections show the previous cube if it came from
    /// the same file or sky. While a sun keeps moving, mip levels may be from different times.
    pub fn record(
        &mut self,
        recording: &mut Recording<'_>,
        config: &Settings,
        spreads: bool,
    ) -> Result<&Self> {
        let gpu = recording.gpu;
        let may_lag = self.make_radiance(gpu, &mut recording.scope, config)?;
        let spreads = spreads && recording.budget.in_parts && may_lag;
        while self.step(gpu, &mut recording.scope)? {
            if spreads {
                break;
            }
            recording.split("environment");
        }
        Ok(self)
    }

    /// Updates everything at once and without a frame, for baking and benchmarks. Otherwise like
    /// [`Environment::record`].
    pub fn record_all(&mut self, gpu: &Gpu, scope: &mut Scope<'_>, config: &Settings) -> Result<()> {
        self.make_radiance(gpu, scope, config)?;
        while self.step(gpu, scope)? {}
        Ok(())
    }

    /// Updates everything but the prefiltered cube, which [`Environment::step`] fills. Returns true if the
    /// current prefiltered cube may stand in for the next one.
    fn make_radiance(&mut self, gpu: &Gpu, scope: &mut Scope<'_>, config: &Settings) -> Result<bool> {
        let origin = self.origin(config);
        let face = self.face(gpu, config, origin);
        let changed = self.progress.made != Some((origin, face));
        let order = config.environment.order;
        if !changed && self.progress.order == order && !self.is_pending() {
            return Ok(false);
        }
        self.records = true;
        let held = match origin {
            Origin::Color(_) => (Vec3::from(config.environment.color).max_element(), false),
            Origin::Sky(_) => (sky_gain(config).recip(), false),
            Origin::File(_) | Origin::Studio => {
                let scale = self.picture(config).map_or(0.0, |picture| picture.scale);
                (scale, true)
            }
        };
        let stands_in = std::mem::replace(&mut self.progress.held, held) == held;
        let is_first = self.progress.made.is_none();
        if is_first {
            self.brdf_table.record(gpu, scope)?;
        }
        if changed {
            // If a later step fails, nothing counts as up to date.
            self.progress.made = None;
            if !stands_in {
                self.progress.step = None;
            }
            if self.radiance.face != face {
                let levels = Cube::full_levels(face);
                self.radiance = Cube::new(gpu, "radiance", face, levels, FORMAT)?;
                self.before = None;
            }
            match (origin, self.picture(config)) {
                (Origin::Color(color), _) => {
                    self.radiance.fill(gpu, color);
                    self.before = None;
                }
                (Origin::Sky(sky), _) => self.sky.record(gpu, scope, &sky, &self.radiance)?,
                (_, Some(picture)) => {
                    self.equirect.record(gpu, scope, picture, &self.radiance)?;
                }
                (_, None) => {}
            }
            self.cube_mips.record(gpu, scope, &self.radiance)?;
            self.progress.made = Some((origin, face));
            self.progress.stale = true;
        }
        if changed || self.progress.order != order {
            self.project_sh.record(gpu, scope, &self.radiance, order)?;
            self.progress.order = order;
        }
        Ok(!is_first && stands_in)
    }

    /// Records the next step of the prefiltered cube. Returns false if none is left.
    fn step(&mut self, gpu: &Gpu, scope: &mut Scope<'_>) -> Result<bool> {
        if self.progress.step.is_none() && std::mem::take(&mut self.progress.stale) {
            let face = self.radiance.face;
            let coming = &mut self.prefiltered[1 - self.progress.shown];
            if coming.face != face {
                let levels = Prefilter::levels(face);
                *coming = Cube::new(gpu, "prefiltered", face, levels, FORMAT)?;
                self.before = None;
            }
            self.progress.step = Some(0);
        }
        let Some(step) = self.progress.step else {
            return Ok(false);
        };
        let coming = &self.prefiltered[1 - self.progress.shown];
        self.prefilter
            .record_step(gpu, scope, &self.radiance, coming, step)?;
        let next = Some(step + 1).filter(|step| *step < self.prefilter.steps(coming));
        self.progress.step = next;
        if next.is_none() {
            self.progress.shown = 1 - self.progress.shown;
        }
        Ok(true)
    }
}

impl LifeCycle for Environment {
    fn begin(&mut self) {
        (self.before, self.records) = (Some(self.progress), false);
    }

    fn abort(&mut self) {
        self.progress = self.before.unwrap_or_default();
        if self.records {
            self.sky.reset();
        }
    }

    fn invalidate(&mut self) {
        if self.records {
            self.progress = Progress::default();
            self.sky.reset();
        }
    }
}
