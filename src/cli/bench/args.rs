//! The arguments of `canopy bench`.

use super::inputs::TriangleKind;
use crate::{
    Error, Result,
    cli::options::{fps, size, within},
    config::Tree,
};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// `canopy bench`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct BenchArgs {
    /// What to measure: sort, build, trace, frame, path, pathtrace, query, irradiance, compile
    #[arg(value_name = "SUITE", hide_possible_values = true)]
    pub suite: Suite,
    /// Scene files, which make one scene (build, trace, query, frame, path, pathtrace)
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
    /// Meshes that share the triangles of the kind "meshes"; 1,000 if not given
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Input")]
    pub meshes: Option<u32>,
    /// Pairs to sort, such as 64K,1M (sort)
    #[arg(
        long,
        value_name = "N[,N…]",
        value_delimiter = ',',
        value_parser = count,
        help_heading = "Input"
    )]
    pub pairs: Vec<u32>,
    /// Points and boxes that are asked for, such as 64K (query)
    #[arg(long, value_name = "N", value_parser = count, help_heading = "Input")]
    pub queries: Option<u32>,
    /// Texels along an edge of the cubes, such as 64,512 (irradiance)
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
    /// Clip that is played from begin to end, by name or number (path)
    #[arg(long, value_name = "NAME|N", help_heading = "Input")]
    pub clip: Option<String>,
    /// Keys that the camera moves along, as JSON: see docs/usage.md (path)
    #[arg(long, value_name = "FILE.json", help_heading = "Input")]
    pub path: Option<PathBuf>,
    /// Frames per second of the clip and of the camera (path)
    #[arg(long, value_name = "F", value_parser = fps, help_heading = "Input")]
    pub fps: Option<f64>,
    /// Number of frames, instead of the whole clip or path, or 120 of a turn (path)
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        help_heading = "Input"
    )]
    pub frames: Option<u32>,
    /// Also write a page with plots that can be sent (path)
    #[arg(short, long, value_name = "FILE.html", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Size of the picture whose pixels send rays (trace, frame, path)
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Input")]
    pub size: Option<[u32; 2]>,
    /// Seed of generated triangles and of random rays
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Input")]
    pub seed: u64,
    /// Rays treat a node with at most N triangles as a leaf; trace and query measure several N otherwise
    #[arg(
        long,
        value_name = "N",
        value_parser = within(Tree::LEAF_CUTOFF),
        help_heading = "Measurement"
    )]
    pub leaf_cutoff: Option<u32>,
    /// Samples of each run, instead of as many as its time allows (5 to 50)
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        help_heading = "Measurement"
    )]
    pub samples: Option<u32>,
    /// Repetitions before them that are not measured; 3 if not given, 12 of frames
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
  sort   random, sorted, equal and few distinct keys
  build  all trees, by stage; with no input named also 600K triangles as 1, 1,000 and 10,000 meshes
  trace  primary, shadow and ambient-occlusion rays from a G-buffer, for both queries and every leaf cutoff,
         beside a textbook's traversal
  query  nearest points and what boxes touch, as they are given and sorted by Morton codes; what boxes touch by
         counting first beside one pass
  frame  every pass of a whole frame, for every policy tree.rebuild
  path   every frame of a clip, of a camera's path, or of a turn around the scene while its clip plays
  pathtrace
         the path tracer by one kernel and by separate ones, with and without sorting hits by material; in time, and
         in surfaces of paths in lockstep
  irradiance
         cubes of half and full floats to spherical harmonics of order 3 and 5, beside the CPU in f32 (one
         thread, all threads) and in f64; and the environment passes of a sky whose sun moves in every frame
  compile
         every entry point of every shader: parsing it, making its pipeline, using it for the first time

Kinds of generated triangles:
  soup     small triangles, evenly distributed in a cube
  terrain  a height field: neighbours share their vertices
  meshes   spheres on a lattice, one mesh each
  slivers  long, thin triangles of all sizes and directions, which suit Morton codes badly
  equal    triangles that share one centroid, and so one Morton code
  dense    a figure in a coarse world, as one mesh: nine of ten triangles in a thousandth of its extent
  long     a soup, of which one triangle in a hundred reaches across all

Without FILE, --triangles, --kind and --meshes, the built-in scene and generated triangles are measured.
Sizes, samples and pictures are small on a software adapter (a run takes about 1 s, pictures of the frame have
640x360 and those of rays 256x144 pixels) and large on a GPU (3 s, up to 16M triangles and 64M pairs,
1920x1080). What does not fit the adapter is skipped, with the reason.

Times are GPU timestamps after the warm-up. On a software adapter those of single passes of `frame` are late;
trust its totals.

Examples:
  canopy bench build --triangles 64K,128K --kind soup,slivers
  canopy bench trace cave.glb --size 1920x1080 --json
  canopy bench path fox.glb --clip Run -o fox.html";

/// A suite of measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// The radix sort
    Sort,
    /// The trees' build
    Build,
    /// Rays
    Trace,
    /// Queries other than rays
    Query,
    /// The whole frame
    Frame,
    /// Every frame of a clip or of a camera's path
    Path,
    /// Kernels of the path tracer
    Pathtrace,
    /// Spherical harmonics of an environment
    Irradiance,
    /// Shaders, until they have run once
    Compile,
}

impl Suite {
    /// Name on the command line and in JSON.
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
    /// Repetitions that are not measured. What is averaged over frames costs other rays until it has a history.
    pub(super) fn warm_up(&self) -> u32 {
        let usual = if matches!(self.suite, Suite::Frame) { 12 } else { 3 };
        self.warm_up.unwrap_or(usual)
    }

    /// Whether the options name generated triangles.
    pub(super) fn generates(&self) -> bool {
        !self.triangles.is_empty() || !self.kind.is_empty() || self.meshes.is_some()
    }

    /// Fails for an option that the suite does not have.
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
                "{option} is no option of the suite \"{}\"",
                self.suite.name()
            ))),
            None => Ok(()),
        }
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
        for text in ["", "K", "0", "-1", "1e3", "inf", "1G", "2000M", "0.1", "6 K"] {
            assert!(count(text).is_err(), "{text}");
        }
    }
}
