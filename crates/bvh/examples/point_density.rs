//! Computes the density of a million points from their nearest neighbours, as used for point clouds and
//! particle fluids.
//!
//! ```text
//! cargo run --release --example point_density -- 1000000
//! ```
//!
//! The points are evenly distributed in a cube, with a dense ball at its centre. The density at a point is
//! eight divided by the volume of the smallest ball that contains its eight nearest neighbours. For a hundred
//! points, the neighbours are compared with the result of a loop over all points. The exit code is 1 if they
//! differ, or if the densities differ from the distribution's.

use canopy_bvh::{
    accel::{self, Codes, NearestK, ObjectGeometry, ObjectLbvh, Objects, Search, Work},
    gpu::Gpu,
};
use glam::Vec3;
use std::{f32::consts::PI, io::Write, process::ExitCode, time::Instant};
use wgpu::BufferUsages as Usage;

type Error = Box<dyn std::error::Error>;

/// Number of neighbours. The first is the point itself.
const K: u32 = 9;
/// Radius of the ball. The cube extends from −1 to 1. A third of the points are in the ball.
const BALL: f32 = 0.25;

/// Random numbers from 0 to 1 that are the same on every machine (SplitMix64, Steele et al. 2014).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ word >> 31) >> 40) as f32 / (1 << 24) as f32
    }

    fn cube(&mut self) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()) * 2.0 - 1.0
    }
}

fn points(count: u32) -> Vec<Vec3> {
    let mut random = Random(1);
    let point = |i| {
        if i % 3 > 0 {
            return random.cube();
        }
        loop {
            let at = random.cube();
            if at.length() < 1.0 {
                return BALL * at;
            }
        }
    };
    (0..count).map(point).collect()
}

fn run() -> Result<String, Error> {
    let count = std::env::args()
        .nth(1)
        .map_or(Ok(1_000_000), |count| count.parse())?;
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle().with_env());
    let adapter = pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions::default()))?;
    let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor::default()))?;
    let gpu = Gpu::from_device(&device, &queue, &accel::SHADERS);
    let points = points(count);
    let balls: Vec<[f32; 4]> = points.iter().map(|p| p.extend(0.0).into()).collect();
    let geometry = ObjectGeometry {
        objects: Objects::Balls,
        buffer: &gpu.buffer_with("points", &balls, Usage::STORAGE),
        sets: &[count],
        object_info: None,
    };
    let builder = ObjectLbvh::new(&gpu);
    let mut tree = builder.tree(&gpu, &geometry, Codes::Bits30)?;
    let query = NearestK::new(&gpu);
    let begun = Instant::now();
    let mut encoder = gpu.encoder("build");
    builder.record(&gpu, &mut encoder, &mut tree, Work::Rebuild)?;
    queue.submit([encoder.finish()]);
    let mut neighbours = Vec::new();
    // Process 65,536 points at a time, so that no dispatch takes long.
    for part in points.chunks(1 << 16) {
        let asked: Vec<[f32; 4]> = part.iter().map(|p| p.extend(f32::INFINITY).into()).collect();
        neighbours.extend(query.run(&gpu, &Search::new(&tree.tree), &asked, K)?);
    }
    let secs = begun.elapsed().as_secs_f64();

    for i in (0..points.len()).step_by((points.len() / 100).max(1)) {
        let mut distances: Vec<f32> = points.iter().map(|p| (points[i] - *p).length()).collect();
        distances.sort_by(f32::total_cmp);
        let found = &neighbours[i * K as usize..][..K as usize];
        for (found, expected) in found.iter().zip(distances) {
            if (found.distance - expected).abs() > 1e-6 {
                return Err(format!("point {i}: query: {found:?}, brute force: {expected}").into());
            }
        }
    }
    let density = |i: usize| {
        let reach = neighbours[(i + 1) * K as usize - 1].distance;
        (K - 1) as f32 / (4.0 / 3.0 * PI * reach.powi(3))
    };
    // Medians over points well within either part. The ball of the k-th neighbour holds slightly fewer than k
    // points on average.
    let median = |is_in: &dyn Fn(f32) -> bool| {
        let mut all: Vec<f32> = (0..points.len())
            .filter(|i| is_in(points[*i].length()))
            .map(density)
            .collect();
        all.sort_by(f32::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or(0.0)
    };
    let (inner, outer) = (
        median(&|r| r < 0.8 * BALL),
        median(&|r| r > 1.3 * BALL && r < 0.9),
    );
    let cube = count as f32 * 2.0 / 3.0 / 8.0;
    let ball = cube + count as f32 / 3.0 / (4.0 / 3.0 * PI * BALL.powi(3));
    let line = format!(
        "{count} points in {secs:.2} s: {inner:.0} a unit of volume in the ball, made with {ball:.0}; {outer:.0} around it, \
         made with {cube:.0}"
    );
    let is_near = |found: f32, made: f32| (found / made - 1.0).abs() < 0.1;
    match count < 10_000 || (is_near(inner, ball) && is_near(outer, cube)) {
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
