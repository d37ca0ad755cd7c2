//! Spherical harmonics of an environment: the pass against its twin, and the twin against what is known.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use canopy::{
    gpu::{Gpu, profiler::Profiler},
    reference::environment::project_sh::{self as twin, COEFFICIENTS},
    render::environment::{Cube, ProjectSh},
};
use common::{Random, roads};
use glam::{DVec3, Vec3};
use half::f16;
use wgpu::TextureFormat as Format;

/// Sizes at which columns, workgroups and the middle of a face begin and end.
const SIZES: [u32; 11] = [1, 2, 3, 4, 5, 31, 32, 33, 64, 100, 257];

/// A cube on the GPU.
fn upload(gpu: &Gpu, face: u32, texels: &[[f32; 4]], format: Format) -> Cube {
    let cube = Cube::new(gpu, "test", face, 1, format).unwrap();
    let halves: Vec<[f16; 4]>;
    let bytes: &[u8] = if format == Format::Rgba16Float {
        halves = texels
            .iter()
            .map(|texel| texel.map(f16::from_f32))
            .collect();
        bytemuck::cast_slice(&halves)
    } else {
        bytemuck::cast_slice(texels)
    };
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(bytes.len() as u32 / (6 * face)),
        rows_per_image: Some(face),
    };
    let size = cube.texture.size();
    gpu.queue
        .write_texture(cube.texture.as_image_copy(), bytes, layout, size);
    cube
}

/// The result as it lies in its buffer.
fn project(gpu: &Gpu, pass: &ProjectSh, cube: &Cube, order: u32) -> Vec<[f32; 4]> {
    let mut profiler = Profiler::new(gpu).unwrap();
    let mut encoder = gpu.encoder("test");
    pass.record(gpu, &mut profiler.scope("test", &mut encoder), cube, order);
    profiler.submit(gpu, encoder);
    let floats = bytemuck::pod_collect_to_vec(&gpu.read(&pass.result).unwrap());
    gpu.check().unwrap();
    floats
}

/// Texels with a bright and a dark side and much noise, exact in halves.
fn noise(face: u32, seed: u64) -> Vec<[f32; 4]> {
    let mut random = Random(seed);
    let texel = |i: u32| {
        let slope = (i % face) as f32 / face as f32 + (i / face / face) as f32;
        let texel = [
            random.unit(),
            4.0 * random.unit() * slope,
            slope,
            random.unit(),
        ];
        texel.map(|channel| f16::from_f32(channel).to_f32())
    };
    (0..6 * face * face).map(texel).collect()
}

/// The error of a result, of its radiance or its irradiance.
fn fault(result: &[[f32; 4]], expected: &[DVec3; COEFFICIENTS]) -> f64 {
    assert_eq!(result.len(), 2 * COEFFICIENTS);
    let (radiance, irradiance) = (
        colors(&result[..COEFFICIENTS]),
        colors(&result[COEFFICIENTS..]),
    );
    let of_radiance = twin::error(&radiance, expected);
    of_radiance.max(twin::error(&irradiance, &twin::irradiance_sh(expected)))
}

fn colors(result: &[[f32; 4]]) -> Vec<DVec3> {
    let color = |[r, g, b, w]: &[f32; 4]| {
        assert_eq!(*w, 0.0);
        Vec3::new(*r, *g, *b).as_dvec3()
    };
    result.iter().map(color).collect()
}

#[test]
fn the_pass_equals_its_twin() {
    for (road, gpu) in roads() {
        let pass = ProjectSh::new(&gpu).unwrap();
        let mut worst: f64 = 0.0;
        for face in SIZES {
            let texels = noise(face, u64::from(face));
            for order in [3, 5] {
                let expected = twin::project_sh(&texels, face as usize, order as usize);
                for format in [Format::Rgba16Float, Format::Rgba32Float] {
                    let cube = upload(&gpu, face, &texels, format);
                    let error = fault(&project(&gpu, &pass, &cube, order), &expected);
                    worst = worst.max(error);
                    assert!(
                        error < 1e-6,
                        "{road}, {face}², order {order}, {format:?}: {error:e}"
                    );
                }
            }
        }
        println!("{road}: at most {worst:e}");
    }
}
