//! `sky`: physically based clear sky for any elevation of the sun, for the Earth's atmosphere (Hillaire 2020,
//! [`canopy_scene::atmosphere`]).

use super::cube::Cube;
pub use crate::layout::SkyParams;

use canopy_bvh::{
    Result,
    gpu::{Bind, Constant, Gpu, GpuImage, Kernel, Uniform, Workgroups, pass::Binding, profiler::Scope},
};
use canopy_scene::atmosphere;
use glam::Vec3;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

/// Constants of [`atmosphere`] that the shaders use.
pub(crate) const CONSTANTS: &[Constant] = &[
    Constant::f64("SKY_EYE", atmosphere::EYE),
    Constant::f64("AIR_GROUND", atmosphere::GROUND_RADIUS),
    Constant::f64("AIR_TOP", atmosphere::TOP),
    Constant::vec4("AIR_RAYLEIGH", atmosphere::RAYLEIGH.to_array()),
    Constant::f64("AIR_MIE", atmosphere::MIE),
    Constant::f64("AIR_MIE_EXTINCTION", atmosphere::MIE_EXTINCTION),
    Constant::vec4("AIR_OZONE", atmosphere::OZONE.to_array()),
    Constant::f64("SUN_RADIUS", atmosphere::SUN_RADIUS),
];

/// Pipelines of the pass and its lookup tables, which are kept until the atmosphere changes.
#[derive(Debug)]
pub struct Sky {
    /// Tables of transmittance, of multiple scattering and of ground irradiance.
    tables: [Table; 3],
    kernel: Kernel,
    params: Uniform<SkyParams>,
    sampler: wgpu::Sampler,
    /// Haze and ground albedo of the tables.
    air: Option<[f32; 2]>,
}

#[derive(Debug)]
struct Table {
    name: &'static str,
    /// Texels that a workgroup fills along each side.
    group: u32,
    image: GpuImage,
    kernel: Kernel,
}

/// Name, size, and texels of a workgroup along each side.
const TABLES: [(&str, [u32; 2], u32); 3] = [
    ("sky_transmittance", [256, 64], 8),
    ("sky_scattering", [32, 32], 1),
    ("sky_irradiance", [64, 1], 1),
];

/// Bindings of the parameters, of the output, and of the tables that are read.
fn bindings(stored: Binding, tables: usize) -> Vec<Binding> {
    let mut bindings = vec![Binding::Uniform, stored];
    if tables > 0 {
        bindings.push(Binding::Sampler);
    }
    bindings.extend([Binding::Filtered].repeat(tables));
    bindings
}

impl Sky {
    /// Creates the pass without compiling its pipelines.
    pub fn new(gpu: &Gpu) -> Self {
        let kernel = |name, stored, tables| {
            let path = "environment/sky.wgsl";
            Kernel::new(gpu, path, name, &[], &bindings(stored, tables))
        };
        let table = |index: usize| {
            let (name, size, group) = TABLES[index];
            let usage = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::STORAGE_BINDING;
            Table {
                name,
                group,
                image: GpuImage::new(gpu, name, size, FORMAT, usage),
                kernel: kernel(name, Binding::Store(FORMAT), index),
            }
        };
        Self {
            tables: [0, 1, 2].map(table),
            kernel: kernel("sky", Binding::StoreArray(FORMAT), TABLES.len()),
            params: Uniform::new(gpu, "sky.params"),
            sampler: gpu.device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("sky"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            air: None,
        }
    }

    /// Invalidates the tables, because the commands that should have filled them never ran.
    pub fn reset(&mut self) {
        self.air = None;
    }

    /// Fills level 0 of `cube` (half floats) with the radiance of the sky of `params`, without the sun's
    /// disc, and of the ground below the horizon.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        scope: &mut Scope<'_>,
        params: &SkyParams,
        cube: &Cube,
    ) -> Result<()> {
        let params = clean(params);
        self.params.write(gpu, &params);
        let air = Some([params.haze, params.ground_albedo]);
        if self.air != air {
            for (index, table) in self.tables.iter().enumerate() {
                let [width, height] = TABLES[index].1.map(|side| side.div_ceil(table.group));
                let mut pass = scope.scoped_compute_pass(table.name);
                let own = self.own(&table.image.view, index);
                let texels = Workgroups::Grid([width, height, 1]);
                table.kernel.dispatch(gpu, &mut pass, &[], &own, texels)?;
            }
        }
        self.air = air;
        let faces = cube.level(0);
        let own = self.own(&faces, TABLES.len());
        let groups = cube.face.div_ceil(8);
        let texels = Workgroups::Grid([groups, groups, 6]);
        let mut pass = scope.scoped_compute_pass("sky");
        self.kernel.dispatch(gpu, &mut pass, &[], &own, texels)
    }

    /// Returns the bindings of a kernel that writes `target` and reads the first `tables` tables.
    fn own<'a>(&'a self, target: &'a wgpu::TextureView, tables: usize) -> Vec<&'a dyn Bind> {
        let mut own: Vec<&dyn Bind> = vec![&self.params, target];
        if tables > 0 {
            own.push(&self.sampler);
        }
        let tables = &self.tables[..tables];
        own.extend(tables.iter().map(|table| &table.image as &dyn Bind));
        own
    }
}

/// Returns the transmittance of sunlight in linear RGB from the direction `to_sun` (of any length). It
/// reddens near the horizon and is zero once the disc is entirely below it. The horizon is the edge of the
/// visible sky as seen from [`atmosphere::EYE`], 0.72° below y = 0.
pub fn transmittance(to_sun: Vec3, params: &SkyParams) -> Vec3 {
    through_air(to_sun, params, atmosphere::sunlight)
}

/// Returns the transmittance of the drawn sun disc, for its part above the horizon.
pub fn disc_transmittance(to_sun: Vec3, params: &SkyParams) -> Vec3 {
    through_air(to_sun, params, atmosphere::disc_light)
}

/// Evaluates `light`, a function of height, cosine to the zenith and haze.
fn through_air(to_sun: Vec3, params: &SkyParams, light: impl Fn(f64, f64, f64) -> glam::DVec4) -> Vec3 {
    let params = clean(&SkyParams {
        to_sun: to_sun.to_array(),
        ..*params
    });
    let bands = light(atmosphere::EYE, params.to_sun[1].into(), params.haze.into());
    atmosphere::rgb(bands).as_vec3()
}

/// Returns the illuminance of level ground by sun and sky on a clear day, relative to the sun's illuminance
/// above the atmosphere. It is a fit to measurements from noon to the end of twilight (Seidelmann 1992,
/// "Explanatory Supplement to the Astronomical Almanac"). It selects the power of two that scales a sky into
/// the range of half floats.
pub fn daylight(to_sun: Vec3) -> f32 {
    const ABOVE_THE_AIR_LUX: f32 = 133_100.0;
    let height = to_sun
        .normalize_or(Vec3::Y)
        .y
        .clamp(-1.0, 1.0)
        .asin()
        .to_degrees();
    let coefficients = match height {
        20.0.. => [3.74, 3.97, -4.07, 1.47],
        5.0.. => [3.05, 13.28, -45.98, 64.33],
        -0.8.. => [2.88, 22.26, -207.64, 1034.30],
        -5.0.. => [2.88, 21.81, -258.11, -858.36],
        -12.0.. => [2.70, 12.17, -431.69, -1899.83],
        _ => [13.84, 262.72, 1447.42, 2797.93],
    };
    let x = height.max(-18.0) / 90.0;
    let log_lux = coefficients.into_iter().rev().fold(0.0, |sum, c| sum * x + c);
    10f32.powf(log_lux) / ABOVE_THE_AIR_LUX
}

/// Sanitises parameters for the shader. The direction is normalised, and no value is negative or NaN.
fn clean(params: &SkyParams) -> SkyParams {
    let within = |number: f32, limit: f32| number.max(0.0).min(limit);
    let to_sun = Vec3::from(params.to_sun);
    SkyParams {
        to_sun: to_sun.normalize_or(Vec3::Y).to_array(),
        haze: within(params.haze, 1e3),
        // The gain, which is greatest at night, multiplies this value. The shader clamps what half floats
        // cannot represent.
        illuminance: params.illuminance.map(|channel| within(channel, 1e30)),
        ground_albedo: within(params.ground_albedo, 1.0),
    }
}
