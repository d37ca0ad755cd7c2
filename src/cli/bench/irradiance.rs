//! `canopy bench irradiance`: projects cubes to spherical harmonics, and updates the environment of a sky
//! with a moving sun.

use super::{
    floor,
    inputs::Random,
    report::{Column, Format, Run},
    session::Session,
};
use crate::{
    Error, Result,
    config::EnvironmentSource,
    gpu::{Gpu, profiler::Scope},
    reference::environment::{
        cube_map::nth_texel_direction,
        project_sh::{self as cpu, COEFFICIENTS, Texel},
    },
    render::{
        environment::{Cube, Environment, ProjectSh},
        frame::life_cycle::LifeCycle,
    },
};

use glam::{DVec3, Vec3};
use half::f16;
use serde_json::json;
use wgpu::TextureFormat;

/// Columns of the table.
pub(super) const COLUMNS: &[Column] = &[
    ("texels", "name", Format::Text),
    ("face", "face", Format::Text),
    ("order", "order", Format::Text),
    ("min ms", "gpu_ms/min", Format::Ms),
    ("median ms", "gpu_ms/median", Format::Ms),
    ("p95 ms", "gpu_ms/p95", Format::Ms),
    ("of copy", "share/project_sh", Format::Percent),
    ("error", "error", Format::Exponent),
];

/// Maximum relative error of the pass.
const TOLERANCE: f64 = 1e-5;

/// Face sizes of the sky's cube. More texels would show no more detail.
const SKY_FACES: std::ops::RangeInclusive<u32> = 16..=256;

/// Texel format of a cube.
pub(in crate::cli) trait Stored: Texel + bytemuck::Pod {
    const NAME: &str;
    const FORMAT: TextureFormat;
}

impl Stored for [f16; 4] {
    const NAME: &str = "half floats";
    const FORMAT: TextureFormat = TextureFormat::Rgba16Float;
}

impl Stored for [f32; 4] {
    const NAME: &str = "full floats";
    const FORMAT: TextureFormat = TextureFormat::Rgba32Float;
}

/// Projects cubes of every size, with half and full floats, to three and five bands.
pub(super) fn run(session: &mut Session<'_>) -> Result<()> {
    let faces = match &session.args.faces[..] {
        [] => &[64, 128, 256, 512, 1024],
        faces => faces,
    };
    let pass = ProjectSh::new(&session.meter.gpu);
    let mut progress = session.progress(faces.len());
    for face in faces {
        progress.step(&format!("faces of {face}²"));
        let floats = sky(*face, session.args.seed);
        let halves: Vec<_> = floats.iter().map(|texel| texel.map(f16::from_f32)).collect();
        measure::<_, 9>(session, &pass, *face, &halves)?;
        measure::<_, 25>(session, &pass, *face, &halves)?;
        measure::<_, 9>(session, &pass, *face, &floats)?;
        measure::<_, 25>(session, &pass, *face, &floats)?;
    }
    let fits = |face: &&u32| face.is_power_of_two() && SKY_FACES.contains(face);
    for face in faces.iter().filter(fits) {
        measure_sky(session, *face)?;
    }
    Ok(())
}

/// Measures the update of the whole environment of a sky whose sun moves every frame: cube, mip levels,
/// harmonics and prefiltered cube.
fn measure_sky(session: &mut Session<'_>, face: u32) -> Result<()> {
    let mut config = session.config.clone();
    config.environment.source = EnvironmentSource::Sky;
    config.environment.face = face;
    let mut run = Run::new(json!({"name": "moving sky", "face": face, "order": config.environment.order}));
    let mut environment = Environment::new(&session.meter.gpu)?;
    let mut elevation = 0.3_f32;
    let timings = session.meter.time(
        |_| {},
        |gpu, scope| {
            elevation += 0.01;
            let (sin, cos) = elevation.sin_cos();
            config.sun.direction = [-cos, -sin, 0.0];
            environment.record_all(gpu, scope, &config)?;
            environment.commit();
            Ok(())
        },
    )?;
    run.time(&timings, |_, _| None);
    session.report.runs.push(run);
    Ok(())
}

/// Measures the projection to `N` coefficients.
fn measure<T: Stored, const N: usize>(
    session: &mut Session<'_>,
    pass: &ProjectSh,
    face: u32,
    texels: &[T],
) -> Result<()> {
    let order = N.isqrt();
    let mut run = Run::new(json!({"name": T::NAME, "face": face, "order": order}));
    let cube = match upload(&session.meter.gpu, face, texels) {
        Ok(cube) => cube,
        Err(why) => {
            session.report.skip(run, &why);
            return Ok(());
        }
    };
    let project = |gpu: &Gpu, scope: &mut Scope<'_>| Ok(pass.record(gpu, scope, &cube, order as u32)?);
    let timings = session.meter.time(|_| {}, project)?;
    let copy = session.report.copy_gb_per_s;
    run.time(&timings, |stage, ms| {
        let bytes = size_of_val(texels) as u64;
        (stage == ProjectSh::LABEL).then_some(floor::share(bytes, ms, copy?))
    });
    let found: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&session.meter.gpu.read(&pass.result)?);
    let found: Vec<_> = found[..COEFFICIENTS]
        .iter()
        .map(|[r, g, b, _]| Vec3::new(*r, *g, *b).as_dvec3())
        .collect();

    let error = cpu::error(&found[..N], &cpu::project_sh(texels, face as usize, order)[..N]);
    run.set("error", error);
    if error > TOLERANCE {
        return Err(Error::WrongResult(format!(
            "the SH coefficients differ from the CPU's by {error:.1e}, more than {TOLERANCE:.0e}"
        )));
    }
    session.report.runs.push(run);
    Ok(())
}

pub(in crate::cli) fn upload<T: Stored>(gpu: &Gpu, face: u32, texels: &[T]) -> Result<Cube> {
    let cube = Cube::new(gpu, "bench.cube", face, 1, T::FORMAT)?;
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(face * size_of::<T>() as u32),
        rows_per_image: Some(face),
    };
    gpu.queue.write_texture(
        cube.texture.as_image_copy(),
        bytemuck::cast_slice(texels),
        layout,
        cube.texture.size(),
    );
    Ok(cube)
}

/// Generates a bright sky with noise, a sun some degrees wide, and dark ground.
pub(in crate::cli) fn sky(face: u32, seed: u64) -> Vec<[f32; 4]> {
    let mut random = Random(seed);
    let sun = DVec3::new(0.5, 0.6, -0.4).normalize();
    let face = face as usize;
    let texel = |i: usize| {
        let v = nth_texel_direction(face, i);
        let color = match v {
            v if v.dot(sun) > 0.998 => Vec3::new(900.0, 800.0, 600.0),
            v if v.y > 0.0 => Vec3::new(0.3, 0.5, 1.0).lerp(Vec3::ONE, 1.0 - v.y as f32),
            _ => Vec3::new(0.2, 0.17, 0.13),
        };
        (color * (0.75 + 0.5 * random.unit())).extend(1.0).to_array()
    };
    (0..6 * face * face).map(texel).collect()
}
