//! `canopy bake-env`: bakes an environment to spherical harmonics and prefiltered cubes, for use in other
//! programs.

use super::report::Report;
use crate::{
    Result,
    config::{self, Config, EnvironmentSource},
    gpu::{Gpu, profiler::Profiler},
    output::baked::{self, Baked, CubeTexels},
    render::environment::{Cube, Environment, most_texels},
    scene::environment::{
        self, EnvironmentImage, Shape,
        cube_map::nth_texel_direction,
        harmonics::{COEFFICIENTS, evaluate_sh},
    },
};
use clap::Args;
use glam::{DVec3, Vec3};
use half::f16;
use std::path::PathBuf;

/// Largest face size of the prefiltered cube, in texels.
const LARGEST_FACE: u32 = 1024;

/// Face size of the irradiance cube in texels. Irradiance has little detail.
const IRRADIANCE_FACE: u32 = 32;

/// Arguments of `canopy bake-env`.
#[derive(Debug, Args)]
pub struct BakeArgs {
    /// Environment file: .hdr or .exr (equirectangular), or a cube map as .ktx2 or .dds
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Output: .json (harmonics), .ktx2 (also writes OUT-irradiance.ktx2), or a folder of .exr faces
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Bands of the spherical harmonics, 3 or 5; default: environment.order
    #[arg(long, value_name = "3|5", value_parser = order)]
    pub order: Option<u32>,
    /// Face size of the prefiltered cube, a power of two; default: half the width
    #[arg(long, value_name = "N", value_parser = face)]
    pub face: Option<u32>,
}

/// Bakes the environment file.
///
/// # Errors
///
/// [`crate::Error::Usage`] for an unknown output format, before a GPU is opened. Any error of reading, baking
/// and writing.
pub fn run(args: &BakeArgs, mut config: Config, quiet: bool) -> Result<()> {
    baked::check(&args.output)?;
    let wanted = &mut config.environment;
    wanted.file = args.file.to_string_lossy().into_owned();
    wanted.source = EnvironmentSource::Auto;
    wanted.intensity = 1.0;
    wanted.order = args.order.unwrap_or(wanted.order);
    wanted.face = args.face.unwrap_or(LARGEST_FACE);
    let report = Report::new(quiet);
    report.line.stage("opening the adapter");
    let gpu = report.stage("open", "the adapter", || crate::device::open(&config.gpu))?;
    let name = args.file.display().to_string();
    report.line.stage(&format!("reading {name}"));
    let image = report.stage("load", &name, || {
        environment::load(&args.file, &config.load, most_texels(&gpu, &config))
    })?;
    image.warnings.iter().for_each(|line| log::warn!("{line}"));
    if args.face.is_none() {
        config.environment.face = fitting_face(&image);
    }
    report.line.stage("baking");
    let baked = report.stage("bake", "harmonics and cubes", || bake(&gpu, &image, &config))?;
    report.line.stage("writing");
    let out = args.output.display().to_string();
    report
        .stage("write", &out, || baked::write(&baked, &args.output))
        .map_err(|error| error.with_output(&out))?;
    let (order, face) = (baked.order, baked.prefiltered.face);
    report.wrote(&format!(
        "{out} (harmonics of {order} bands, faces of {face} × {face} texels)"
    ));
    Ok(())
}

/// Chooses the face size of the prefiltered cube: half the width of an equirectangular file or the face of a
/// cube, rounded up to a power of two. The minimum of 256 has enough texels for five bands.
fn fitting_face(image: &EnvironmentImage) -> u32 {
    let face = match image.shape {
        Shape::Equirectangular => image.width.div_ceil(2),
        Shape::Cube => image.width,
    };
    face.next_power_of_two().clamp(256, LARGEST_FACE)
}

/// Runs the frame's environment passes on `image` and reads back the results.
fn bake(gpu: &Gpu, image: &EnvironmentImage, config: &Config) -> Result<Baked> {
    let mut environment = Environment::new(gpu)?;
    environment.set_file(gpu, Some(image))?;
    let mut profiler = Profiler::new(gpu)?;
    let mut encoder = gpu.encoder("bake");
    let mut scope = profiler.scope("frame", &mut encoder);
    environment.record_all(gpu, &mut scope, config)?;
    drop(scope);
    profiler.submit(gpu, encoder);

    let order = config.environment.order;
    let words: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&gpu.read(&environment.project_sh.result)?);
    let coefficients: Vec<Vec3> = words
        .iter()
        .map(|word| Vec3::from_slice(word) * image.scale)
        .collect();
    let (radiance, irradiance) = coefficients.split_at(COEFFICIENTS);
    let kept = |list: &[Vec3]| {
        let kept = list.iter().take((order * order) as usize);
        kept.map(Vec3::to_array).collect()
    };
    Ok(Baked {
        order,
        radiance_sh: kept(radiance),
        irradiance_sh: kept(irradiance),
        prefiltered: read(gpu, environment.prefiltered(), image.scale)?,
        irradiance: irradiance_cube(irradiance),
    })
}

/// Reads back all levels of a cube. Multiplies the texels by `scale` and clamps them to the range of f16.
fn read(gpu: &Gpu, cube: &Cube, scale: f32) -> Result<CubeTexels> {
    let scaled = |texel: [f16; 4]| {
        let [r, g, b, _] = texel.map(|channel| half(channel.to_f32() * scale));
        [r, g, b, f16::ONE]
    };
    let level = |level| -> Result<Vec<[f16; 4]>> {
        let bytes = gpu.read_level(&cube.texture, level)?;
        let texels: Vec<[f16; 4]> = bytemuck::pod_collect_to_vec(&bytes);
        Ok(texels.into_iter().map(scaled).collect())
    };
    Ok(CubeTexels {
        face: cube.face,
        levels: (0..cube.levels).map(level).collect::<Result<_>>()?,
    })
}

/// Evaluates irradiance coefficients in every direction. Negative values, which come from ringing, are
/// clamped to zero.
fn irradiance_cube(coefficients: &[Vec3]) -> CubeTexels {
    let mut known = [DVec3::ZERO; COEFFICIENTS];
    for (known, coefficient) in known.iter_mut().zip(coefficients) {
        *known = coefficient.as_dvec3();
    }
    let face = IRRADIANCE_FACE as usize;
    let texel = |i: usize| {
        let direction = nth_texel_direction(face, i);
        let irradiance = evaluate_sh(&known, direction).max(DVec3::ZERO).as_vec3();
        let [r, g, b] = irradiance.to_array().map(half);
        [r, g, b, f16::ONE]
    };
    CubeTexels {
        face: IRRADIANCE_FACE,
        levels: vec![(0..6 * face * face).map(texel).collect()],
    }
}

fn half(value: f32) -> f16 {
    f16::from_f32(value.min(f16::MAX.to_f32()))
}

fn order(text: &str) -> Result<u32, String> {
    let order = text
        .parse()
        .ok()
        .filter(|order| config::Environment::ORDERS.contains(order));
    order.ok_or_else(|| "expected 3 or 5".into())
}

fn face(text: &str) -> Result<u32, String> {
    let is_face = |face: &u32| face.is_power_of_two() && (16..=LARGEST_FACE).contains(face);
    let face = text.parse().ok().filter(is_face);
    face.ok_or_else(|| "expected a power of two from 16 to 1024".into())
}
