//! Environment lighting passes compared with their CPU references: harmonics, cube mip levels, prefiltered
//! reflections, the BRDF table and the sky.

use super::{
    checks::{Checks, Verdict, within, worse},
    implementations::Implementation,
};
use crate::{
    Result,
    cli::bench::irradiance,
    gpu::{Gpu, Recorder, Scope},
    reference::environment::{
        brdf_table,
        cube_map::{Faces, texel_direction},
        cube_mips, prefilter,
        project_sh::{COEFFICIENTS, error, irradiance_sh, project_sh},
        sky::{self, Tables},
    },
    render::{
        environment::{
            Cube, ProjectSh,
            brdf_table::BrdfTable,
            cube_mips::CubeMips,
            prefilter::{Prefilter, PrefilterSettings, samples},
            sky::Sky,
        },
        layout::{BRDF_TABLE_COLUMNS, BRDF_TABLE_ROWS, SKY_STEPS, SkyParams},
    },
};

use glam::{DVec3, Vec3};
use half::f16;

pub(super) fn check(checks: &mut Checks, implementations: &[Implementation]) {
    for Implementation { name, gpu } in implementations {
        checks.make(name, "project_sh", || harmonics(gpu));
    }
    if let Some(Implementation { name, gpu }) = implementations.first() {
        checks.make(name, "cube_mips, prefilter", || levels(gpu));
        checks.make(name, "brdf_table", || table(gpu));
        checks.make(name, "sky", || clear_sky(gpu));
    }
}

fn submitted(gpu: &Gpu, record: impl FnOnce(&mut Scope<'_>) -> Result<()>) -> Result<()> {
    let mut encoder = gpu.encoder("selftest");
    record(&mut encoder.scope("selftest"))?;
    gpu.queue.submit([encoder.finish()]);
    Ok(gpu.wait()?)
}

fn harmonics(gpu: &Gpu) -> Result<Verdict> {
    let pass = ProjectSh::new(gpu);
    let mut worst: f64 = 0.0;
    for face in [1, 5, 33, 64] {
        let texels = irradiance::sky(face, 3);
        let cube = irradiance::upload(gpu, face, &texels)?;
        for order in [3, 5] {
            submitted(gpu, |scope| Ok(pass.record(gpu, scope, &cube, order)?))?;
            let found: Vec<[f32; 4]> = bytemuck::pod_collect_to_vec(&gpu.read(&pass.result)?);
            let color = |[r, g, b, _]: &[f32; 4]| Vec3::new(*r, *g, *b).as_dvec3();
            let found: Vec<DVec3> = found.iter().map(color).collect();
            let (radiance, irradiance) = found.split_at(COEFFICIENTS);
            let twin = project_sh(&texels, face as usize, order as usize);
            worst = worse(worst, error(radiance, &twin));
            worst = worse(worst, error(irradiance, &irradiance_sh(&twin)));
        }
    }
    Ok(within(worst, 1e-6, "of the first coefficient"))
}

/// Returns the maximum difference of two cubes as a fraction of the reference's brightest texel, or infinity
/// if a texel is not finite.
fn difference(found: &Faces, twin: &Faces) -> f64 {
    let brightest = twin.texels.iter().map(|texel| texel.max_element());
    let brightest = brightest.fold(1e-30, f64::max);
    let pairs = found.texels.iter().zip(&twin.texels);
    let off = pairs.map(|(a, b)| match a.is_finite() {
        true => (*a - *b).abs().max_element() / brightest,
        false => f64::INFINITY,
    });
    off.fold(0.0, worse)
}

/// Checks the mip levels of radiance and the prefiltered levels.
fn levels(gpu: &Gpu) -> Result<Verdict> {
    const FACE: u32 = 32;
    // The sun is clamped, because errors elsewhere would be negligible compared with it.
    let texels = irradiance::sky(FACE, 5);
    let texels = texels.iter().map(|t| t.map(|channel| channel.min(2.0)));
    let halves: Vec<_> = texels.map(|t| t.map(f16::from_f32)).collect();
    let cube = Cube::new(gpu, "selftest", FACE, Cube::full_levels(FACE), FORMAT)?;
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(FACE * 8),
        rows_per_image: Some(FACE),
    };
    let size = wgpu::Extent3d {
        width: FACE,
        height: FACE,
        depth_or_array_layers: 6,
    };
    let texture = cube.texture.as_image_copy();
    gpu.queue
        .write_texture(texture, bytemuck::cast_slice(&halves), layout, size);
    let mips = CubeMips::new(gpu);
    submitted(gpu, |scope| Ok(mips.record(gpu, scope, &cube)?))?;
    let mut radiance = vec![level(gpu, &cube, 0)?];
    let mut worst: f64 = 0.0;
    for finer in 0..cube.levels - 1 {
        let found = level(gpu, &cube, finer + 1)?;
        let twin = cube_mips::coarser(&radiance[finer as usize]);
        worst = worse(worst, difference(&found, &twin));
        radiance.push(found);
    }
    let mips = within(worst, 1e-3, "of the brightest texel, cube_mips");
    if mips.is_err() {
        return Ok(mips);
    }

    let count = Prefilter::levels(FACE);
    let mirrored = Cube::new(gpu, "selftest", FACE, count, FORMAT)?;
    let settings = PrefilterSettings {
        samples: 32,
        step_samples: 10_000,
    };
    let mut pass = Prefilter::new(gpu, settings)?;
    for step in 0..pass.steps(&mirrored) {
        submitted(gpu, |scope| {
            Ok(pass.record_step(gpu, scope, &cube, &mirrored, step)?)
        })?;
    }
    for number in 1..count {
        let found = level(gpu, &mirrored, number)?;
        let roughness = Prefilter::roughness(number, count);
        let set = samples(roughness, pass.count(number, count), FACE);
        let twin = prefilter::prefilter(&radiance, found.size, &set);
        worst = worse(worst, difference(&found, &twin));
    }
    // Texture filtering has eight bits of precision between texels.
    Ok(within(worst, 1.0 / 128.0, "of the brightest texel"))
}

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Rgba16Float;

/// Reads back a level of a cube of half floats.
fn level(gpu: &Gpu, cube: &Cube, level: u32) -> Result<Faces> {
    let size = (cube.face >> level).max(1);
    let row = (8 * size).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
    let buffer = gpu.buffer("selftest", u64::from(row) * u64::from(6 * size), usage);
    let mut encoder = gpu.encoder("selftest");
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo {
            mip_level: level,
            ..cube.texture.as_image_copy()
        },
        wgpu::TexelCopyBufferInfo {
            buffer: &buffer,
            layout: wgpu::TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(row),
                rows_per_image: Some(size),
            },
        },
        wgpu::Extent3d {
            width: size,
            height: size,
            depth_or_array_layers: 6,
        },
    );
    gpu.queue.submit([encoder.finish()]);
    let bytes = gpu.read(&buffer)?;
    let size = size as usize;
    Ok(Faces::new(size, |face, x, y| {
        let at = row as usize * (face * size + y) + 8 * x;
        let half = |i: usize| f16::from_le_bytes([bytes[at + 2 * i], bytes[at + 2 * i + 1]]);
        DVec3::new(half(0).into(), half(1).into(), half(2).into())
    }))
}

/// Checks the directional albedo of rough surfaces, the BRDF table.
fn table(gpu: &Gpu) -> Result<Verdict> {
    let pass = BrdfTable::new(gpu);
    submitted(gpu, |scope| Ok(pass.record(gpu, scope)?))?;
    let entries: Vec<[f32; 2]> = bytemuck::pod_collect_to_vec(&gpu.read(&pass.buffer)?);
    let entries = &entries[..(BRDF_TABLE_COLUMNS * BRDF_TABLE_ROWS) as usize];
    let mut worst: f64 = 0.0;
    for roughness in [0.1, 0.25, 0.5, 0.8, 1.0] {
        for cosine in [0.05, 0.2, 0.5, 0.9, 1.0] {
            let found = brdf_table::lookup(entries, roughness, cosine);
            let twin = brdf_table::albedo(cosine, roughness, 256);
            for (a, b) in found.iter().zip(&twin) {
                worst = worse(worst, (a - b).abs());
            }
        }
    }
    Ok(within(worst, 0.01, "of the light"))
}

/// Checks a clear sky, from noon to dusk.
fn clear_sky(gpu: &Gpu) -> Result<Verdict> {
    const FACE: u32 = 9;
    let mut pass = Sky::new(gpu);
    let cube = Cube::new(gpu, "selftest", FACE, 1, FORMAT)?;
    let mut worst: f64 = 0.0;
    for degrees in [90.0f32, 45.0, 5.0, 0.0] {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let air = SkyParams {
            to_sun: [cos, sin, 0.0],
            illuminance: [1.0, 2.0, 0.5],
            haze: 1.0,
            ground_albedo: 0.3,
        };
        submitted(gpu, |scope| Ok(pass.record(gpu, scope, &air, &cube)?))?;
        let tables = Tables::new(&air);
        let twin = Faces::new(FACE as usize, |face, x, y| {
            let along = texel_direction(FACE as usize, face, x, y);
            sky::sky(&air, &tables, along, SKY_STEPS)
        });
        let found = level(gpu, &cube, 0)?;
        // Each texel is compared on its own, because the sky around the sun is much brighter than the
        // remaining sky.
        for (a, b) in found.texels.iter().zip(&twin.texels) {
            let off = (*a - *b).abs().max_element() / b.max_element();
            worst = worse(worst, if a.is_finite() { off } else { f64::INFINITY });
        }
    }
    Ok(within(worst, 0.01, "of a texel"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differing_cubes_are_detected() {
        let cube = |last: f64| Faces::new(2, |face, _, _| DVec3::splat(if face == 5 { last } else { 1.0 }));
        assert!(difference(&cube(1.0), &cube(1.0)) < 1e-12);
        assert!((difference(&cube(1.5), &cube(1.0)) - 0.5).abs() < 1e-12);
        assert_eq!(difference(&cube(f64::NAN), &cube(1.0)), f64::INFINITY);
    }
}
