#![allow(
    missing_docs,
    clippy::all,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::allow_attributes_without_reason,
    clippy::allow_attributes
)]
use canopy::{
    accel::{
        Geometry, Lbvh,
        trace::{Query, Ray, Trace},
    },
    config,
    gpu::{Gpu, layout::MeshRange, profiler::Profiler},
};
use std::time::Instant;
fn rnd(s: &mut u64) -> f32 {
    *s = s
        .wrapping_mul(6364136223846793005)
        .wrapping_add(1442695040888963407);
    ((*s >> 40) as f32) / (1u64 << 24) as f32
}
fn main() {
    let n: usize = std::env::args()
        .nth(1)
        .map_or(600_000, |a| a.parse().unwrap());
    let m: usize = std::env::args().nth(2).map_or(1, |a| a.parse().unwrap());
    let mut gpu = Gpu::new(&config::Config::default().gpu).unwrap();
    if std::env::var("PAR").is_ok() {
        gpu.arrays = canopy::gpu::Arrays::Buffers;
    }
    if std::env::var("NOSG").is_ok() {
        gpu.subgroup_size = None;
    }
    let mut s = 1u64;
    let size = 2.0 / (n as f32).cbrt();
    let mut positions: Vec<[f32; 3]> = Vec::new();
    for i in 0..n {
        let off = ((i * m / n) as f32) * 0.0;
        let c = [rnd(&mut s) + off, rnd(&mut s), rnd(&mut s)];
        for _ in 0..3 {
            positions.push([
                c[0] + size * (rnd(&mut s) - 0.5),
                c[1] + size * (rnd(&mut s) - 0.5),
                c[2] + size * (rnd(&mut s) - 0.5),
            ]);
        }
    }
    let indices: Vec<u32> = (0..3 * n as u32).collect();
    let meshes: Vec<MeshRange> = (0..m)
        .map(|k| {
            let a = k * n / m;
            let b = (k + 1) * n / m;
            MeshRange {
                first_triangle: a as u32,
                triangle_count: (b - a) as u32,
                first_vertex: 3 * a as u32,
            }
        })
        .collect();
    let info: Vec<[u32; 2]> = meshes
        .iter()
        .enumerate()
        .flat_map(|(k, r)| vec![[k as u32, 0]; r.triangle_count as usize])
        .collect();
    let st = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    let p = gpu.buffer_with("p", &positions, st);
    let i = gpu.buffer_with("i", &indices, st);
    let f = gpu.buffer_with("f", &info, st);
    let lbvh = Lbvh::new(&gpu).unwrap();
    let geometry = Geometry {
        positions: &p,
        indices: &i,
        triangle_info: &f,
        meshes: &meshes,
    };
    let tree = lbvh
        .tree(&gpu, &geometry, canopy::accel::Codes::default())
        .unwrap();
    let mut profiler = Profiler::new(&gpu).unwrap();
    let mut best: Vec<(String, f64)> = Vec::new();
    for _ in 0..10 {
        gpu.wait().unwrap();
        let mut encoder = gpu.encoder("scratch");
        {
            let mut scope = profiler.scope("all", &mut encoder);
            lbvh.record(&mut scope, &tree, canopy::accel::Work::Rebuild);
        }
        profiler.submit(&gpu, encoder);
        gpu.wait().unwrap();
        profiler.collect(&gpu);
        let mut sums: Vec<(String, f64)> = Vec::new();
        for t in profiler.timings() {
            match sums.iter_mut().find(|b| b.0 == t.name) {
                Some(b) => b.1 += t.last_ms,
                None => sums.push((t.name.clone(), t.last_ms)),
            }
        }
        for (name, ms) in sums {
            match best.iter_mut().find(|b| b.0 == name) {
                Some(b) => b.1 = b.1.min(ms),
                None => best.push((name, ms)),
            }
        }
    }
    for (n, t) in &best {
        print!("{n} {t:.1}  ");
    }
    println!();
    if std::env::args().nth(3).is_some() {
        let data = tree.read(&gpu).unwrap();
        println!("{:?}", data.validate(&meshes).unwrap());
        let trace = Trace::new(&gpu).unwrap();
        let rays: Vec<Ray> = (0..200_000)
            .map(|_| {
                let o = [rnd(&mut s), rnd(&mut s), rnd(&mut s)];
                let d = [rnd(&mut s) - 0.5, rnd(&mut s) - 0.5, rnd(&mut s) - 0.5];
                Ray {
                    origin: o,
                    t_min: 0.0,
                    direction: d,
                    t_max: 10.0,
                }
            })
            .collect();
        let grid: Vec<Ray> = (0..200_000u32)
            .map(|i| {
                let (t, k) = (i / 64, i % 64);
                let (x, y) = ((t % 56) * 8 + k % 8, (t / 56) * 8 + k / 8);
                Ray {
                    origin: [0.5, 0.5, -1.0],
                    t_min: 0.0,
                    direction: [x as f32 / 448.0 - 0.5, y as f32 / 448.0 - 0.5, 1.0],
                    t_max: 10.0,
                }
            })
            .collect();
        for (rays, cutoff) in [(&grid, 4), (&grid, 1), (&grid, 8), (&rays, 4)] {
            for q in [Query::ClosestHit, Query::AnyHit] {
                trace.run(&gpu, &tree, rays, q, cutoff).unwrap();
                let t = Instant::now();
                let h = trace.run(&gpu, &tree, rays, q, cutoff).unwrap();
                println!(
                    "cutoff {cutoff} {q:?} {:.1} ms hits {}",
                    t.elapsed().as_secs_f64() * 1e3,
                    h.iter().filter(|h| h.place != u32::MAX).count()
                );
            }
        }
    }
}
