//! Builds BVHs over the same triangles and traces the same rays with canopy on the adapter and with the
//! crates `bvh` and `obvhs` on the CPU, in one run. Prints times and ratios.
//!
//! ```text
//! cargo run --release -p canopy-peers [-- [--large] [FILE…]]
//! cargo run --release -p canopy-peers -- query [FILE…]
//! cargo run --release -p canopy-peers -- pairs
//! ```
//!
//! `query` compares queries. Nearest points and box overlaps also run with the crate `parry3d`, and nearest
//! points of a point cloud with `kiddo` and `rstar`. Its tables show build and query times on all cores. It
//! exits with 1 if answers differ ([`queries`]). `pairs` only runs the query for pairs of boxes.
//!
//! A build's ratio compares times, so below 1 it is faster than canopy's. A trace's ratio compares rates, so
//! above 1 it is faster.
//!
//! The inputs are soups of 64 K and 600 K triangles, with `--large` also one of 2 M, and each FILE as one
//! mesh. The benchmark asserts no speed. It exits with 1 if more than one ray in a thousand hits in one tree
//! and misses in another.

#![expect(clippy::print_stdout, reason = "the report")]

mod queries;
mod trees;

use anyhow::{Context, bail};
use canopy::{
    config::Config,
    reference::deform::deform,
    scene::{self, Pose, Progress},
};
use glam::{Vec3, Vec3A};
use obvhs::{BvhBuildParams, ray::Ray};
use rayon::prelude::*;
use std::path::PathBuf;
use trees::{Builder, Canopy, Peer, Triangles, obvhs_triangles, shapes, timed};

/// Number of builds of each kind. The median is printed.
const BUILDS: usize = 7;
/// Number of traces of each kind. The median is printed.
const TRACES: usize = 3;
/// Grid of 200,000 rays.
const GRID: [usize; 2] = [500, 400];
/// Fraction of rays that may hit in one tree and miss in another, because triangle tests differ at edges.
const TOLERANCE: f64 = 1e-3;

/// Triangles to build and trace.
struct Input {
    name: String,
    triangles: Vec<[Vec3; 3]>,
}

fn main() -> anyhow::Result<()> {
    // Cargo adds this argument.
    let mut arguments: Vec<_> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.first().is_some_and(|first| first == "pairs") {
        if !queries::box_pairs(&Canopy::new()?)? {
            bail!("answers differ");
        }
        return Ok(());
    }
    let asks = arguments.first().is_some_and(|first| first == "query");
    let inputs = if asks {
        query_inputs(arguments.split_off(1))?
    } else {
        inputs(arguments.into_iter())?
    };
    let mut canopy = Canopy::new()?;
    let info = &canopy.gpu.info;
    println!(
        "canopy on {} ({}), the others on {} threads\n",
        info.name,
        info.backend,
        rayon::current_num_threads()
    );
    if asks {
        if !queries::run(&mut canopy, &inputs)? {
            bail!("answers differ");
        }
        return Ok(());
    }
    let mut worst: f64 = 0.0;
    for input in &inputs {
        build(&mut canopy, input)?;
        worst = worst.max(trace(&mut canopy, input)?);
    }
    if worst > TOLERANCE {
        bail!(
            "{:.3} % of the rays hit in one tree and miss in another",
            100.0 * worst
        );
    }
    Ok(())
}

/// Returns the soups, and the files given as arguments.
fn inputs(arguments: impl Iterator<Item = String>) -> anyhow::Result<Vec<Input>> {
    let mut sizes = vec![1 << 16, 600_000];
    let mut inputs = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--large" => sizes.push(2_000_000),
            option if option.starts_with('-') => bail!("there is no option {option}"),
            file => inputs.push(load(file)?),
        }
    }
    let soups = sizes.into_iter().map(|count| Input {
        name: format!("soup of {count}"),
        triangles: soup(count, 1),
    });
    Ok(soups.chain(inputs).collect())
}

/// Returns the meshes to query: each FILE, or a generated mesh.
fn query_inputs(files: Vec<String>) -> anyhow::Result<Vec<Input>> {
    if files.is_empty() {
        return Ok(vec![queries::closed_mesh()]);
    }
    files.iter().map(|file| load(file)).collect()
}

/// Loads all meshes of a file as one, in the rest pose.
fn load(file: &str) -> anyhow::Result<Input> {
    let limits = Config::default().frame.opening.load;
    let scene = scene::load(&[PathBuf::from(file)], &limits, &Progress::default())
        .with_context(|| format!("cannot load {file}"))?;
    let merged = deform(&scene, &Pose::new(&scene, None, 0.0));
    let corners = |triangle: &[u32; 3]| triangle.map(|v| merged.positions[v as usize]);
    Ok(Input {
        name: file.to_owned(),
        triangles: merged.indices.iter().map(corners).collect(),
    })
}

/// Returns a generator of uniform numbers in 0..1, the same on every machine (SplitMix64, Steele et al.
/// 2014).
fn random(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 40) as f32 / (1 << 24) as f32
    }
}

/// Distributes triangles over the unit cube. Their size shrinks with their number.
fn soup(count: usize, seed: u64) -> Vec<[Vec3; 3]> {
    let mut unit = random(seed);
    let mut point = || Vec3::new(unit(), unit(), unit());
    let size = 1.0 / (count as f32).cbrt();
    (0..count)
        .map(|_| {
            let center = point();
            [(); 3].map(|()| center + (point() - 0.5) * size)
        })
        .collect()
}

/// Presets of `obvhs`, fastest build first.
const PRESETS: [(&str, BvhBuildParams); 4] = [
    ("fastest", BvhBuildParams::fastest_build()),
    ("very fast", BvhBuildParams::very_fast_build()),
    ("fast", BvhBuildParams::fast_build()),
    ("medium", BvhBuildParams::medium_build()),
];

/// Returns every CPU builder.
fn builders() -> Vec<(String, Builder)> {
    let mut builders = vec![
        ("bvh, parallel".to_owned(), Builder::Bvh { parallel: true }),
        ("bvh, sequential".to_owned(), Builder::Bvh { parallel: false }),
    ];
    for (name, params) in PRESETS {
        builders.push((format!("obvhs BVH2, {name}"), Builder::Bvh2(params)));
    }
    for (name, params) in PRESETS {
        builders.push((format!("obvhs CWBVH, {name}"), Builder::CwBvh(params)));
    }
    builders
}

fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Builds with each builder, alternating between them in rounds, and prints the medians.
fn build(canopy: &mut Canopy, input: &Input) -> anyhow::Result<()> {
    let mut tree = canopy.tree(&input.triangles)?;
    canopy.build(&mut tree)?;
    let builders = builders();
    let triangles = obvhs_triangles(&input.triangles);
    let shapes = shapes(&triangles);
    let (mut gpu_ms, mut wall_ms) = (Vec::new(), Vec::new());
    let mut peers_ms = vec![Vec::new(); builders.len()];
    for _ in 0..BUILDS {
        let (gpu, wall) = canopy.build(&mut tree)?;
        gpu_ms.extend(gpu);
        wall_ms.push(wall);
        for ((_, builder), ms) in builders.iter().zip(&mut peers_ms) {
            ms.push(builder.build(&triangles, &shapes).0);
        }
    }
    let mut rows = Vec::new();
    if !gpu_ms.is_empty() {
        rows.push(("canopy, GPU time".to_owned(), gpu_ms));
    }
    rows.push(("canopy, until it is done".to_owned(), wall_ms));
    let names = builders.into_iter().map(|(name, _)| name);
    rows.extend(names.zip(peers_ms));

    println!(
        "build: {}, {} triangles, {BUILDS} rounds",
        input.name,
        input.triangles.len()
    );
    println!(
        "{:<28}{:>12}{:>12}{:>12}{:>16}",
        "", "median ms", "min ms", "Mtri/s", "over canopy's"
    );
    let own = median(&rows[0].1);
    for (name, all_ms) in rows {
        let ms = median(&all_ms);
        let least = all_ms.into_iter().fold(f64::INFINITY, f64::min);
        let rate = input.triangles.len() as f64 / ms / 1e3;
        println!("{name:<28}{ms:>12.2}{least:>12.2}{rate:>12.2}{:>16.2}", ms / own);
    }
    println!();
    Ok(())
}

/// Generates the rays of a pinhole camera that sees all triangles, and rays between random points among them.
fn rays(triangles: &Triangles) -> [Vec<Ray>; 2] {
    let corners = || triangles.iter().flatten().copied();
    let low = corners().fold(Vec3::INFINITY, Vec3::min);
    let high = corners().fold(Vec3::NEG_INFINITY, Vec3::max);
    let (center, radius) = ((low + high) / 2.0, (high - low).length() / 2.0);
    let eye = center + Vec3::new(0.62, 0.43, 0.81).normalize() * radius * 2.5;
    let forward = (center - eye).normalize();
    let right = forward.cross(Vec3::Y).normalize();
    let up = right.cross(forward);
    let [width, height] = GRID;
    let primary = (0..width * height).map(|i| {
        let x = ((i % width) as f32 + 0.5) / width as f32 - 0.5;
        let y = 0.5 - ((i / width) as f32 + 0.5) / height as f32;
        ray(eye, forward + 0.9 * (x * right + y * up))
    });
    let mut unit = random(2);
    let mut point = || Vec3::new(unit(), unit(), unit());
    let random = (0..width * height).map(|_| {
        let origin = low + point() * (high - low);
        loop {
            let direction = point() * 2.0 - 1.0;
            if (1e-6..=1.0).contains(&direction.length_squared()) {
                return ray(origin, direction);
            }
        }
    });
    [primary.collect(), random.collect()]
}

fn ray(origin: Vec3, direction: Vec3) -> Ray {
    let direction = Vec3A::from(direction.normalize());
    Ray::new(origin.into(), direction, 0.0, f32::INFINITY)
}

/// Kinds of queries: the name, an index into [`rays`], and true for any-hit.
const QUERIES: [(&str, usize, bool); 4] = [
    ("primary closest", 0, false),
    ("primary any", 0, true),
    ("random closest", 1, false),
    ("random any", 1, true),
];

/// A row of the table.
struct Traced {
    name: String,
    /// Milliseconds of each round, by query.
    ms: [Vec<f64>; 4],
    /// Largest fraction of rays whose result differs from that in canopy's tree.
    differ: f64,
}

impl Traced {
    fn new(name: String) -> Self {
        Self {
            name,
            ms: Default::default(),
            differ: 0.0,
        }
    }

    /// Returns million rays per second, by query.
    fn rates(&self) -> [f64; 4] {
        let rays = (GRID[0] * GRID[1]) as f64;
        self.ms.each_ref().map(|ms| rays / median(ms) / 1e3)
    }
}

/// Traces through each tree, alternating between them in rounds, and prints the medians. Returns the largest
/// fraction of rays that differ.
fn trace(canopy: &mut Canopy, input: &Input) -> anyhow::Result<f64> {
    let mut tree = canopy.tree(&input.triangles)?;
    canopy.build(&mut tree)?;
    let rays = rays(&input.triangles);
    for any in [false, true] {
        canopy.trace(&tree, &rays[0], any)?;
    }
    let peers = traced_peers(input);
    let threads = [1, rayon::current_num_threads()];
    let mut own = Traced::new("canopy".into());
    let mut lines: Vec<_> = peers
        .iter()
        .flat_map(|(name, peer)| threads.map(|threads| (name, peer, threads)))
        .map(|(name, peer, threads)| (peer, threads, format!("{name}, threads: {threads}")))
        .map(|(peer, threads, name)| (peer, threads, Traced::new(name)))
        .collect();
    for _ in 0..TRACES {
        for (query, (_, kind, any)) in QUERIES.into_iter().enumerate() {
            let (ms, own_hits) = canopy.trace(&tree, &rays[kind], any)?;
            own.ms[query].push(ms);
            for (peer, threads, line) in &mut lines {
                let (ms, hits) = timed(|| trace_peer(peer, &rays[kind], any, *threads > 1));
                line.ms[query].push(ms);
                let differ = hits.iter().zip(&own_hits).filter(|(a, b)| a != b).count();
                line.differ = line.differ.max(differ as f64 / hits.len() as f64);
            }
        }
    }
    println!(
        "trace: {}, million rays/s (over canopy's), median of {TRACES}",
        input.name
    );
    print!("{:<32}", "");
    QUERIES.iter().for_each(|(name, ..)| print!("{name:>20}"));
    println!("{:>12}", "differ");
    let traced = || [&own].into_iter().chain(lines.iter().map(|(.., line)| line));
    for line in traced() {
        print!("{:<32}", line.name);
        for (rate, own) in line.rates().into_iter().zip(own.rates()) {
            print!("{:>20}", format!("{rate:.3} ({:.2})", rate / own));
        }
        println!("{:>10.4} %", 100.0 * line.differ);
    }
    println!();
    Ok(traced().map(|line| line.differ).fold(0.0, f64::max))
}

/// Builds the CPU trees for tracing: for each kind, the one with the fastest build and the best one.
fn traced_peers(input: &Input) -> Vec<(String, Peer)> {
    let triangles = obvhs_triangles(&input.triangles);
    let shapes = shapes(&triangles);
    let kept = ["parallel", "fastest", "medium"];
    builders()
        .into_iter()
        .filter(|(name, _)| kept.iter().any(|kept| name.ends_with(kept)))
        .map(|(name, builder)| {
            let (_, peer) = builder.build(&triangles, &shapes);
            (name.replace(", parallel", ""), peer)
        })
        .collect()
}

/// Returns true for each ray that hits.
fn trace_peer(peer: &Peer, rays: &[Ray], any: bool, parallel: bool) -> Vec<bool> {
    let hits = |ray| peer.hits(ray, any);
    if parallel {
        rays.par_iter().with_min_len(256).map(hits).collect()
    } else {
        rays.iter().map(hits).collect()
    }
}
