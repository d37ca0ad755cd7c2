//! Arguments of `canopy bench`.

use super::inputs::TriangleKind;
use crate::{
    Error, Result,
    cli::options::{fps, size, within},
    config::Tree,
};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `canopy bench`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct BenchArgs {
    /// Suite: sort, build, trace, frame, path, pathtrace, query, irradiance or compile
    #[arg(value_name = "SUITE", hide_possible_values = true)]
    pub suite: Suite,
    /// Scene files, merged into one scene (build, trace, query, frame, path, pathtrace)
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Sizes of generated inputs, such as 64K,1M
    #[arg(
        long,
        value_name = "N[,N…]",
        value_delimiter = ',',
        value_parser = count,
        help_heading = "Input"
    )]
    pub triangles: Vec<u32>,
    /// Kinds of generated triangles (listed below); all if only sizes are given
    #[arg(
        long,
        value_name = "KIND[,KIND…]",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = "Input"
    )]
    pub kind: Vec<TriangleKind>,
    /// Number of meshes of the kind "meshes"; default: 1,000
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Input")]
    pub meshes: Option<u32>,
    /// Numbers of pairs to sort, such as 64K,1M (sort)
    #[arg(
        long,
        value_name = "N[,N…]",
        value_delimiter = ',',
        value_parser = count,
        help_heading = "Input"
    )]
    pub pairs: Vec<u32>,
    /// Number of points and boxes to query, such as 64K (query)
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Input")]
    pub queries: Option<u32>,
    /// Face sizes of the cubes in texels, such as 64,512 (irradiance)
    #[arg(
        long,
        value_name = "N[,N…]",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=4096),
        help_heading = "Input"
    )]
    pub faces: Vec<u32>,
    /// Only shaders with one of these in their path, such as bvh/ (compile)
    #[arg(
        long,
        value_name = "PART[,PART…]",
        value_delimiter = ',',
        help_heading = "Input"
    )]
    pub only: Vec<String>,
    /// Clip to play from start to end, by name or number (path)
    #[arg(long, value_name = "NAME|N", help_heading = "Input")]
    pub clip: Option<String>,
    /// Camera keys as JSON, see docs/usage/animation.md (path)
    #[arg(long, value_name = "FILE.json", help_heading = "Input")]
    pub path: Option<PathBuf>,
    /// Frames per second of the clip and camera (path)
    #[arg(long, value_name = "F", value_parser = fps, help_heading = "Input")]
    pub fps: Option<f64>,
    /// Number of frames; default: whole clip or path, or 120 per orbit (path)
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Input"
    )]
    pub frames: Option<u32>,
    /// Also write a self-contained HTML page with plots (path)
    #[arg(short, long, value_name = "FILE.html", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Size of the picture, one ray per pixel (trace, frame, path)
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Input")]
    pub size: Option<[u32; 2]>,
    /// Seed of generated triangles and random rays
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Input")]
    pub seed: u64,
    /// Treat BVH nodes with at most N triangles as leaves; trace and query default to several N
    #[arg(
        long,
        value_name = "N",
        value_parser = within(Tree::LEAF_CUTOFF),
        help_heading = "Measurement"
    )]
    pub leaf_cutoff: Option<u32>,
    /// Measured repetitions per run; default: 5 to 50, as time allows
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = "Measurement"
    )]
    pub samples: Option<u32>,
    /// Warm-up repetitions, not measured; default: 3, or 12 for frame
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(..=10_000),
        help_heading = "Measurement"
    )]
    pub warm_up: Option<u32>,
}

const AFTER_HELP: &str = "\
Suites:
  sort   random, sorted and equal keys, and keys with few distinct values
  build  all BVHs, by stage; without an input also 600K triangles as 1, 1,000 and 10,000 meshes
  trace  primary, shadow and ambient-occlusion rays from a G-buffer, as closest-hit and any-hit
         queries with every leaf cutoff, compared with a textbook traversal
  query  nearest points and box overlaps, in the given order and sorted by Morton code; overlaps
         also with a counting pass first, compared with a single pass
  frame  every pass of a frame, for every value of tree.rebuild
  path   every frame of a clip, of a camera path, or of an orbit while the scene's clip plays
  pathtrace
         the path tracer as one kernel and as separate kernels, with and without sorting hits by
         material: times, and the overhead of lockstep
  irradiance
         cubes of half and full floats to spherical harmonics of order 3 and 5, and the
         environment passes of a sky whose sun moves every frame
  compile
         every entry point of every shader: parsing, pipeline creation, first use

Kinds of generated triangles:
  soup     small triangles, evenly distributed in a cube
  terrain  a height field with shared vertices
  meshes   spheres on a lattice, each its own mesh
  slivers  long, thin triangles of all sizes and directions, a bad case for Morton codes
  equal    triangles with the same centroid and therefore the same Morton code
  dense    a figure in a coarse world, as one mesh: 9 of 10 triangles in 1/1000 of its extent
  long     a soup in which 1 of 100 triangles spans the whole scene

Without FILE, --triangles, --kind and --meshes, the built-in scene and generated triangles are \
measured. Software adapters use small sizes, samples and pictures (about 1 s per run, 640x360 pixels \
for frames and 256x144 for rays). GPUs use large ones (3 s, up to 16M triangles and 64M pairs, \
1920x1080 pixels). Runs that do not fit the adapter are skipped, and the reason is reported.

Times are GPU timestamps after the warm-up. Software adapters write the timestamps of single \
passes of `frame` late. Use its totals there.

Examples:
  canopy bench build --triangles 64K,128K --kind soup,slivers
  canopy bench trace cave.glb --size 1920x1080 --json
  canopy bench path fox.glb --clip Run -o fox.html";

/// Benchmark suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Radix sort
    Sort,
    /// BVH build
    Build,
    /// Ray traversal
    Trace,
    /// Nearest points and box overlaps
    Query,
    /// Whole frames
    Frame,
    /// Every frame of a clip or camera path
    Path,
    /// Path tracing kernels
    Pathtrace,
    /// Environment to spherical harmonics
    Irradiance,
    /// Shader compilation, up to the first use
    Compile,
}

impl Suite {
    /// Returns the name on the command line and in JSON.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sort => "sort",
            Self::Build => "build",
            Self::Trace => "trace",
            Self::Query => "query",
            Self::Frame => "frame",
            Self::Path => "path",
            Self::Pathtrace => "pathtrace",
            Self::Irradiance => "irradiance",
            Self::Compile => "compile",
        }
    }
}

impl BenchArgs {
    /// Returns the number of warm-up repetitions. Temporal averages trace a different number of rays until
    /// they have a history.
    pub(super) fn warm_up(&self) -> u32 {
        let usual = if matches!(self.suite, Suite::Frame) { 12 } else { 3 };
        self.warm_up.unwrap_or(usual)
    }

    /// True if the options select generated triangles.
    pub(super) fn generates(&self) -> bool {
        !self.triangles.is_empty() || !self.kind.is_empty() || self.meshes.is_some()
    }

    /// Fails for an option that does not apply to the suite.
    pub(super) fn check(&self) -> Result<()> {
        let sorts = self.suite == Suite::Sort;
        let plays = self.suite == Suite::Path;
        let draws = plays || matches!(self.suite, Suite::Trace | Suite::Frame | Suite::Pathtrace);
        let projects = self.suite == Suite::Irradiance;
        let no_scene = sorts || projects || matches!(self.suite, Suite::Compile);
        let not_generated = no_scene || plays;
        let wrong = [
            ("FILE", no_scene && !self.files.is_empty()),
            ("--triangles", not_generated && !self.triangles.is_empty()),
            ("--kind", not_generated && !self.kind.is_empty()),
            ("--meshes", not_generated && self.meshes.is_some()),
            ("--samples", plays && self.samples.is_some()),
            ("--clip", !plays && self.clip.is_some()),
            ("--path", !plays && self.path.is_some()),
            ("--fps", !plays && self.fps.is_some()),
            ("--frames", !plays && self.frames.is_some()),
            ("--output", !plays && self.output.is_some()),
            ("--queries", self.suite != Suite::Query && self.queries.is_some()),
            ("--pairs", !sorts && !self.pairs.is_empty()),
            ("--faces", !projects && !self.faces.is_empty()),
            ("--only", self.suite != Suite::Compile && !self.only.is_empty()),
            ("--size", !draws && self.size.is_some()),
            (
                "--leaf-cutoff",
                !draws && self.suite != Suite::Query && self.leaf_cutoff.is_some(),
            ),
        ];
        match wrong.into_iter().find(|(_, wrong)| *wrong) {
            Some((option, _)) => Err(Error::Usage(format!(
                "{option} is not an option of the suite \"{}\"",
                self.suite.name()
            ))),
            None => Ok(()),
        }
    }
}

/// Parses a count, such as 600, 64K or 1.5M.
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
    fn counts_accept_suffixes() {
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
        for text in ["", "K", "0", "-1", "1e3", "inf", "1G", "2000M", "0.1", "6 K"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
