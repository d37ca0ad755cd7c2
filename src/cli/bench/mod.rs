//! `canopy bench`: the tree's figures on any adapter, measured by GPU timestamps.
//!
//! A suite plans what to measure (`sources`, [`inputs`]), takes samples ([`timing`]) and adds runs to a `report`; `floor` says which bytes no
//! stage gets around, and `baseline` what a textbook's traversal takes for the same rays.

mod baseline;
mod build;
mod compile;
mod floor;
mod frame;
pub mod inputs;
mod irradiance;
mod progress;
mod rays;
mod report;
mod shot;
mod sort;
mod sources;
pub mod timing;
mod trace;
mod trees;

use crate::{
    Error, Result,
    config::{Config, Tree},
    gpu::Gpu,
};
use clap::{Args, ValueEnum};
use inputs::Kind;
use progress::Progress;
use report::{Column, Report};
use std::path::PathBuf;
use timing::{Meter, Sampling};

/// `canopy bench`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct BenchArgs {
    /// What to measure
    #[arg(value_name = "SUITE")]
    pub suite: Suite,
    /// Scene files, which make one scene (build, trace, frame)
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Sizes of generated inputs, such as 64K,1M
    #[arg(long, value_name = "N[,N…]", value_delimiter = ',', value_parser = count)]
    pub triangles: Vec<u32>,
    /// What generated triangles are like; all kinds where sizes alone are given
    #[arg(long, value_name = "KIND[,KIND…]", value_delimiter = ',')]
    pub kind: Vec<Kind>,
    /// Meshes that share the triangles of the kind "meshes"; 1,000 where it is not given
    #[arg(long, value_name = "N", value_parser = count)]
    pub meshes: Option<u32>,
    /// Pairs to sort, such as 64K,1M (sort)
    #[arg(long, value_name = "N[,N…]", value_delimiter = ',', value_parser = count)]
    pub pairs: Vec<u32>,
    /// Texels along an edge of the cubes, such as 64,512 (irradiance)
    #[arg(long, value_name = "N[,N…]", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub faces: Vec<u32>,
    /// Size of the picture whose pixels send rays (trace, frame)
    #[arg(long, value_name = "WxH", value_parser = super::size)]
    pub size: Option<[u32; 2]>,
    /// Triangles that make a leaf for rays (trace: only this one instead of 1, 2, 4, 8, 16, 32; frame)
    #[arg(long, value_name = "N", value_parser = super::within(Tree::LEAF_CUTOFF))]
    pub leaf_cutoff: Option<u32>,
    /// Samples of each run, instead of as many as fit its time (5 to 50)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub samples: Option<u32>,
    /// Unmeasured repetitions before them
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub warm_up: u32,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    /// Seed of generated inputs and of random rays
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

const AFTER_HELP: &str = "\
Suites:
  sort   random, sorted, equal and few distinct keys
  build  all trees, by stage; with no input named also 600K triangles as 1, 1,000 and 10,000 meshes
  trace  primary, shadow and ambient-occlusion rays from a G-buffer, for both queries and every leaf cutoff, beside a textbook's traversal
  frame  every pass of the real frame, by every policy tree.rebuild
  irradiance
         cubes of half and full floats to spherical harmonics of order 3 and 5, beside the processor in f32 (one thread, all) and in f64; and
         all that a sky asks for whose sun moves in every frame
  compile
         every entry point of every shader: parsing it, making its pipeline, using it for the first time

Where neither FILE nor --triangles, --kind or --meshes is given, the built-in scene and generated triangles are measured: sizes, samples and
pictures are small on a software adapter (a run takes about 1 s, of the frame 640x360 and of rays 256x144 pixels) and large on a GPU (3 s, up
to 16M triangles and 64M pairs, 1920x1080). What does not fit the adapter is skipped, with the reason.

Times are GPU timestamps after the warm-up. On a software adapter those of single passes of `frame` are late; trust its totals.

Examples:
  canopy bench build --triangles 64K,128K --kind soup,slivers
  canopy bench trace cave.glb --size 1920x1080 --json";

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// The radix sort
    Sort,
    /// The trees' build
    Build,
    /// Rays
    Trace,
    /// The whole frame
    Frame,
    /// Spherical harmonics of an environment
    Irradiance,
    /// Shaders, until they have run once
    Compile,
}

impl Suite {
    fn name(self) -> &'static str {
        match self {
            Self::Sort => "sort",
            Self::Build => "build",
            Self::Trace => "trace",
            Self::Frame => "frame",
            Self::Irradiance => "irradiance",
            Self::Compile => "compile",
        }
    }

    fn columns(self) -> &'static [Column] {
        match self {
            Self::Sort => sort::COLUMNS,
            Self::Build => build::COLUMNS,
            Self::Trace => trace::COLUMNS,
            Self::Frame => frame::COLUMNS,
            Self::Irradiance => irradiance::COLUMNS,
            Self::Compile => compile::COLUMNS,
        }
    }
}

impl BenchArgs {
    /// Whether generated inputs are asked for.
    fn generates(&self) -> bool {
        !self.triangles.is_empty() || !self.kind.is_empty() || self.meshes.is_some()
    }

    /// Fails for options that the suite does not have.
    fn check(&self) -> Result<()> {
        let sorts = self.suite == Suite::Sort;
        let draws = matches!(self.suite, Suite::Trace | Suite::Frame);
        let projects = self.suite == Suite::Irradiance;
        let no_scene = sorts || projects || self.suite == Suite::Compile;
        let wrong = [
            ("FILE", no_scene && !self.files.is_empty()),
            ("--triangles", no_scene && !self.triangles.is_empty()),
            ("--kind", no_scene && !self.kind.is_empty()),
            ("--meshes", no_scene && self.meshes.is_some()),
            ("--pairs", !sorts && !self.pairs.is_empty()),
            ("--faces", !projects && !self.faces.is_empty()),
            ("--size", !draws && self.size.is_some()),
            ("--leaf-cutoff", !draws && self.leaf_cutoff.is_some()),
        ];
        match wrong.into_iter().find(|(_, wrong)| *wrong) {
            Some((option, _)) => Err(Error::Usage(format!(
                "{option} means nothing to the suite \"{}\"",
                self.suite.name()
            ))),
            None => Ok(()),
        }
    }
}

/// Measures a suite and tells what it found.
pub fn run(args: &BenchArgs, mut config: Config, quiet: bool) -> Result<()> {
    args.check()?;
    for file in &args.files {
        std::fs::metadata(file).map_err(|e| Error::io(file, e))?;
    }
    if let Some(cutoff) = args.leaf_cutoff {
        config.set("--leaf-cutoff", "tree.leaf_cutoff", i64::from(cutoff))?;
    }
    let gpu = Gpu::new(&config.gpu)?;
    let software = !gpu.capabilities.has_gpu;
    let mut report = Report::new(args.suite.name(), super::adapter_json(&gpu.info));
    let sampling = Sampling {
        samples: args.samples,
        warm_up: args.warm_up,
        budget_ms: if software { 1e3 } else { 3e3 },
    };
    let mut meter = Meter::new(gpu, sampling)?;
    if !matches!(args.suite, Suite::Frame | Suite::Compile) {
        report.copy_gb_per_s = Some(floor::copy_gb_per_s(&mut meter)?);
    }
    let mut bench = Bench {
        args,
        config: &config,
        quiet,
        software,
        meter,
        report,
    };
    match args.suite {
        Suite::Sort => sort::run(&mut bench)?,
        Suite::Build => build::run(&mut bench)?,
        Suite::Trace => trace::run(&mut bench)?,
        Suite::Frame => frame::run(&mut bench)?,
        Suite::Irradiance => irradiance::run(&mut bench)?,
        Suite::Compile => compile::run(&mut bench)?,
    }
    super::print(&if args.json {
        super::json_text(&bench.report.json())
    } else {
        bench.report.text(args.suite.columns())
    })
}

/// A suite at work.
#[derive(Debug)]
struct Bench<'a> {
    args: &'a BenchArgs,
    config: &'a Config,
    quiet: bool,
    /// Whether the adapter is no GPU: sizes are small.
    software: bool,
    /// The device that is measured, and on which nothing is drawn.
    meter: Meter,
    report: Report,
}

impl Bench<'_> {
    /// A line that says how far the work has come.
    fn progress(&self, steps: usize) -> Progress {
        Progress::new(self.quiet, steps)
    }
}

/// A number of triangles and the like: 600, 64K, 1.5M.
fn count(text: &str) -> Result<u32, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1e3),
        None => text
            .strip_suffix(['m', 'M'])
            .map_or((text, 1.0), |digits| (digits, 1e6)),
    };
    let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number = digits.parse::<f64>().ok().filter(|_| plain);
    let number = number.map(|number| (number * unit).round());
    match number.filter(|number| (1.0..=1e9).contains(number)) {
        Some(number) => Ok(number as u32),
        None => Err("expected a number from 1 to 1000M, such as 600, 64K or 1.5M".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_suffixes() {
        for (text, expected) in [
            ("1", 1),
            ("600", 600),
            ("64K", 64_000),
            ("62.5k", 62_500),
            ("1.5M", 1_500_000),
            ("1000m", 1_000_000_000),
        ] {
            assert_eq!(count(text), Ok(expected), "{text}");
        }
        for text in [
            "", "K", "0", "-1", "1e3", "inf", "1G", "2000M", "0.1", "6 K",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
