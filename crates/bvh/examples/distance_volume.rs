//! Computes the signed distance volume of a mesh: a grid of distances that are negative inside. Distance
//! field renderers and physics engines use such volumes.
//!
//! ```text
//! cargo run --release --example distance_volume -- torus.nrrd
//! ```
//!
//! The volume of 64 × 64 × 64 floats is written to that file in the NRRD format, which ParaView and 3D Slicer
//! read. The mesh is a torus, whose distances have a formula. The exit code is 1 if the volume differs from
//! the formula by more than the mesh does.

use canopy_bvh::{
    accel::{self, Codes, Geometry, Lbvh, MeshRange, Search, Sign, SignedDistance, Work},
    gpu::Gpu,
};
use glam::{Vec2, Vec3};
use std::{f32::consts::TAU, io::Write, process::ExitCode};
use wgpu::BufferUsages as Usage;

type Error = Box<dyn std::error::Error>;

/// Samples along each side.
const SIDE: u32 = 64;
/// Half the length of a side, in metres.
const REACH: f32 = 1.5;
const RADII: [f32; 2] = [0.9, 0.35];
/// Vertices around the torus in both directions.
const POINTS: [u32; 2] = [192, 96];

/// Returns a torus: vertices, and triangles whose front faces (counterclockwise) point outwards.
fn torus() -> (Vec<[f32; 3]>, Vec<[u32; 3]>) {
    let [around, across] = POINTS;
    let corner = |i: u32| {
        let ring = TAU * (i / across) as f32 / around as f32;
        let angle = TAU * (i % across) as f32 / across as f32;
        let radius = RADII[0] + RADII[1] * angle.cos();
        [radius * ring.cos(), RADII[1] * angle.sin(), radius * ring.sin()]
    };
    let cell = |i: u32| {
        let at = |u: u32, v: u32| (i / across + u) % around * across + (i % across + v) % across;
        let [a, b, c, d] = [at(0, 0), at(0, 1), at(1, 1), at(1, 0)];
        [[a, b, c], [a, c, d]]
    };
    let corners = around * across;
    (
        (0..corners).map(corner).collect(),
        (0..corners).flat_map(cell).collect(),
    )
}

/// Returns the distance from a perfect torus.
fn formula(point: Vec3) -> f32 {
    let ring = Vec2::new(point.x, point.z).length() - RADII[0];
    Vec2::new(ring, point.y).length() - RADII[1]
}

fn sample(i: u32) -> Vec3 {
    let at = |n: u32| REACH * ((2 * n + 1) as f32 / SIDE as f32 - 1.0);
    Vec3::new(at(i % SIDE), at(i / SIDE % SIDE), at(i / SIDE / SIDE))
}

fn volume() -> Result<Vec<f32>, Error> {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle().with_env());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))?;
    let gpu = Gpu::from_device(&device, &queue, &accel::SHADERS);
    let (positions, triangles) = torus();
    let usage = Usage::STORAGE | Usage::COPY_SRC;
    let geometry = Geometry {
        positions: &gpu.buffer_with("positions", &positions, usage),
        indices: &gpu.buffer_with("indices", &triangles, usage),
        meshes: &[MeshRange {
            first_triangle: 0,
            triangle_count: triangles.len() as u32,
            first_vertex: 0,
        }],
        triangle_info: None,
    };
    let lbvh = Lbvh::new(&gpu);
    let mut tree = lbvh.tree(&gpu, &geometry, Codes::Bits30)?;
    let mut encoder = gpu.encoder("build");
    lbvh.record(&gpu, &mut encoder, &mut tree, Work::Rebuild)?;
    queue.submit([encoder.finish()]);
    let query = SignedDistance::new(&gpu);
    let mut volume = Vec::new();
    // Process one slice at a time, so that no dispatch takes long.
    for slice in 0..SIDE {
        let first = slice * SIDE * SIDE;
        let points = (first..first + SIDE * SIDE).map(|i| sample(i).extend(f32::INFINITY).into());
        let points: Vec<[f32; 4]> = points.collect();
        let found = query.run(&gpu, &Search::new(&tree), &points, Sign::Pseudonormal)?;
        volume.extend(found.iter().map(|near| near.distance));
    }
    Ok(volume)
}

/// Returns a text header, an empty line, and the floats.
fn nrrd(volume: &[f32]) -> Vec<u8> {
    let spacing = 2.0 * REACH / SIDE as f32;
    let header = format!(
        "NRRD0004\ntype: float\ndimension: 3\nsizes: {SIDE} {SIDE} {SIDE}\nspacings: {spacing} {spacing} {spacing}\n\
         encoding: raw\nendian: little\n\n"
    );
    let floats = volume.iter().flat_map(|value| value.to_le_bytes());
    header.into_bytes().into_iter().chain(floats).collect()
}

fn run() -> Result<String, Error> {
    let volume = volume()?;
    if let Some(file) = std::env::args_os().nth(1) {
        std::fs::write(file, nrrd(&volume))?;
    }
    // Facets lie inside the torus, or outside of its inner half, by at most the distance between an arc and
    // its chord.
    let sagitta = |radius: f32, points: u32| radius * (1.0 - (TAU / 2.0 / points as f32).cos());
    let allowed = sagitta(RADII[0] + RADII[1], POINTS[0]) + sagitta(RADII[1], POINTS[1]) + 1e-5;
    let differences = (0..)
        .zip(&volume)
        .map(|(i, value)| (value - formula(sample(i))).abs());
    let most = differences.fold(0.0, f32::max);
    let inside = volume.iter().filter(|value| **value < 0.0).count();
    let line = format!(
        "{} samples, {inside} inside; up to {most:.6} off the formula, of {allowed:.6} that the facets are",
        volume.len()
    );
    match most < allowed {
        true => Ok(line),
        false => Err(line.into()),
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(line) => {
            writeln!(std::io::stdout(), "{line}").ok();
            ExitCode::SUCCESS
        }
        Err(error) => {
            writeln!(std::io::stderr(), "error: {error}").ok();
            ExitCode::FAILURE
        }
    }
}
