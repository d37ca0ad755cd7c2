//! The sky: the shader against its twin, and both against what is known of skies.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use canopy::{
    gpu::{Gpu, layout::SKY_STEPS, profiler::Profiler},
    reference::environment::sky::{self as twin, Tables},
    render::environment::{
        Cube,
        sky::{Sky, SkyParams},
    },
};
use common::gpu;
use glam::Vec3;
use half::f16;

/// The sun above the horizon by degrees, in the plane of X and Y.
fn sun(degrees: f32) -> Vec3 {
    let (sin, cos) = degrees.to_radians().sin_cos();
    Vec3::new(cos, sin, 0.0)
}

fn params(to_sun: Vec3) -> SkyParams {
    SkyParams {
        to_sun: to_sun.to_array(),
        haze: 1.0,
        illuminance: [1.0; 3],
        ground_albedo: 0.3,
    }
}

/// The direction through the middle of a texel.
fn direction(face: u32, size: u32, x: u32, y: u32) -> Vec3 {
    let [s, t] = [x, y].map(|i| (2 * i + 1) as f32 / size as f32 - 1.0);
    let axes = [
        (Vec3::X, Vec3::NEG_Z, Vec3::NEG_Y),
        (Vec3::NEG_X, Vec3::Z, Vec3::NEG_Y),
        (Vec3::Y, Vec3::X, Vec3::Z),
        (Vec3::NEG_Y, Vec3::X, Vec3::NEG_Z),
        (Vec3::Z, Vec3::X, Vec3::NEG_Y),
        (Vec3::NEG_Z, Vec3::NEG_X, Vec3::NEG_Y),
    ];
    let (middle, right, down) = axes[face as usize];
    (middle + s * right + t * down).normalize()
}

/// Every texel's direction.
fn directions(size: u32) -> impl Iterator<Item = Vec3> {
    let row = move |face, y| (0..size).map(move |x| direction(face, size, x, y));
    (0..6).flat_map(move |face| (0..size).flat_map(move |y| row(face, y)))
}

/// Draws skies into cubes of `size`, with the same tables as long as the air is the same.
struct Stage<'a> {
    gpu: &'a Gpu,
    sky: Sky,
    cube: Cube,
}

impl<'a> Stage<'a> {
    fn new(gpu: &'a Gpu, size: u32) -> Self {
        let format = wgpu::TextureFormat::Rgba16Float;
        Self {
            gpu,
            sky: Sky::new(gpu).unwrap(),
            cube: Cube::new(gpu, "sky", size, 1, format).unwrap(),
        }
    }

    /// Red, green and blue in the order of [`directions`], and the stages that ran.
    fn draw(&mut self, params: &SkyParams) -> (Vec<Vec3>, Vec<String>) {
        let mut profiler = Profiler::new(self.gpu).unwrap();
        let mut encoder = self.gpu.encoder("sky");
        let mut scope = profiler.scope("test", &mut encoder);
        self.sky.record(self.gpu, &mut scope, params, &self.cube);
        drop(scope);
        let measured = profiler.measure(self.gpu, encoder).unwrap();
        let names = measured.passes.into_iter().map(|pass| pass.name);
        (self.texels(), names.collect())
    }

    fn texels(&self) -> Vec<Vec3> {
        let size = self.cube.face;
        let row = size * 8;
        let padded = row.next_multiple_of(256);
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let bytes = u64::from(padded * size * 6);
        let buffer = self.gpu.buffer("texels", bytes, usage);
        let mut encoder = self.gpu.encoder("texels");
        encoder.copy_texture_to_buffer(
            self.cube.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(padded),
                    rows_per_image: Some(size),
                },
            },
            wgpu::Extent3d {
                width: size,
                height: size,
                depth_or_array_layers: 6,
            },
        );
        self.gpu.queue.submit([encoder.finish()]);
        let bytes = self.gpu.read(&buffer).unwrap();
        let rows = bytes[..(padded * size * 6) as usize].chunks(padded as usize);
        rows.flat_map(|padded| padded[..row as usize].chunks(8))
            .map(|texel| {
                let half = |i: usize| f16::from_le_bytes([texel[i], texel[i + 1]]).to_f32();
                assert_eq!(half(6), 1.0);
                Vec3::new(half(0), half(2), half(4))
            })
            .collect()
    }
}

#[test]
fn the_shader_computes_what_its_twin_does() {
    let gpu = gpu();
    let mut stage = Stage::new(&gpu, 9);
    for (haze, ground_albedo) in [(1.0, 0.3), (12.0, 0.0)] {
        let air = SkyParams {
            haze,
            ground_albedo,
            ..params(Vec3::Y)
        };
        let tables = Tables::new(&air);
        for degrees in [90.0, 45.0, 5.0, 0.0, -4.0, -10.0f32] {
            // So bright that halves hold it.
            let illuminance = [1.0, 2.0, 0.5].map(|c| c * 10f32.powf(-degrees.min(0.0) / 3.0));
            let sky = SkyParams {
                to_sun: sun(degrees).to_array(),
                illuminance,
                ..air
            };
            let (texels, _) = stage.draw(&sky);
            let mut worst = 0.0f64;
            for (texel, direction) in texels.iter().zip(directions(9)) {
                let exact = twin::sky(&sky, &tables, direction.as_dvec3(), SKY_STEPS);
                let error = (texel.as_dvec3() - exact).abs().max_element();
                worst = worst.max(error / exact.max_element());
            }
            assert!(worst < 0.02, "haze {haze}, sun at {degrees}°: {worst}");
        }
    }
}
