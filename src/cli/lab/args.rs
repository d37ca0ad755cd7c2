//! Arguments of `canopy lab`.

use crate::{
    Result,
    cli::options::{size, within},
    lab::{Structure, TriangleTest, Walk, binary_tree, kernels::Threads, ray_order::RayOrder},
};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `canopy lab`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct LabArgs {
    /// Scene files, merged into one scene; default: the built-in scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Sets of rays (listed below)
    #[arg(long, value_name = "SET[,SET…]", value_delimiter = ',', help_heading = "Rays")]
    pub sets: Vec<String>,
    /// Rays to trace from a file, in place of the scene's; repeatable
    #[arg(long, value_name = "FILE.rays", help_heading = "Rays")]
    pub rays: Vec<PathBuf>,
    /// Write the sets to a folder, original and shuffled, and exit
    #[arg(long, value_name = "DIR", conflicts_with = "rays", help_heading = "Rays")]
    pub write_rays: Option<PathBuf>,
    /// Size of the picture, one primary ray per pixel
    #[arg(long, value_name = "WxH", value_parser = size, help_heading = "Rays")]
    pub size: Option<[u32; 2]>,
    /// Seed of random rays
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Rays")]
    pub seed: u64,
    /// Ray-triangle tests (listed below)
    #[arg(
        long,
        value_name = "TEST[,…]",
        value_delimiter = ',',
        value_parser = of_names(&TriangleTest::ALL, TriangleTest::name),
        help_heading = "Combinations"
    )]
    pub test: Vec<TriangleTest>,
    /// Traversals
    #[arg(
        long,
        value_name = "WALK[,…]",
        value_delimiter = ',',
        value_parser = of_names(&Walk::ALL, Walk::name),
        help_heading = "Combinations"
    )]
    pub walk: Vec<Walk>,
    /// Acceleration structures
    #[arg(
        long,
        value_name = "NAME[,…]",
        value_delimiter = ',',
        value_parser = of_names(&Structure::ALL, Structure::name),
        help_heading = "Combinations"
    )]
    pub structure: Vec<Structure>,
    /// Distribution of rays to threads
    #[arg(
        long,
        value_name = "NAME[,…]",
        value_delimiter = ',',
        value_parser = of_names(&Threads::ALL, Threads::name),
        help_heading = "Combinations"
    )]
    pub threads: Vec<Threads>,
    /// Orders of rays
    #[arg(
        long,
        value_name = "NAME[,…]",
        value_delimiter = ',',
        value_parser = of_names(&RayOrder::ALL, RayOrder::name),
        help_heading = "Combinations"
    )]
    pub order: Vec<RayOrder>,
    /// Measure every combination of unnamed parts, not only single changes
    #[arg(long, help_heading = "Combinations")]
    pub all: bool,
    /// Maximum number of triangles per BVH leaf
    #[arg(
        long,
        value_name = "N",
        default_value_t = 4,
        value_parser = within(1..=binary_tree::LEAF_MAX),
        help_heading = "Combinations"
    )]
    pub leaf: u32,
    /// Rays of each set to check against every triangle in f64
    #[arg(
        long,
        value_name = "N",
        default_value_t = 500,
        value_parser = within(0..=1_000_000),
        help_heading = "Measurement"
    )]
    pub check: u32,
    /// Measured repetitions per row; default: 5 to 50, as time allows
    #[arg(long, value_name = "N", value_parser = within(1..=10_000), help_heading = "Measurement")]
    pub samples: Option<u32>,
    /// Warm-up repetitions, not measured
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        value_parser = within(0..=10_000),
        help_heading = "Measurement"
    )]
    pub warm_up: u32,
    /// Print JSON
    #[arg(long, conflicts_with = "csv", help_heading = "Output")]
    pub json: bool,
    /// Print CSV
    #[arg(long, help_heading = "Output")]
    pub csv: bool,
    /// Also write an HTML page with a sortable table
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub html: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Sets:        primary, mirror, occlusion, shadow-hard, shadow-soft, diffuse-1, diffuse-2, diffuse-3
Tests:       areas, moller-trumbore, baldwin-weber, unit-triangle, plucker, watertight
Walks:       private-stack, workgroup-stack, short-stack, parent-links, skip-links, four-wide
             (trees); cells (grid); cells-of-cells (two-level-grid); kd-short-stack (kd-tree)
Structures:  radix, ploc (built on the GPU); sah, grid, two-level-grid, kd-tree (built on the CPU)
Threads:     per-ray, persistent
Orders:      given (with gaps for pixels that send no ray), compacted, sorted, shuffled

The baseline is plucker, private-stack, sah, per-ray and compacted. By default, canopy measures \
every combination that differs from it in one part, on the sets primary, shadow-soft and \
diffuse-1. Volumes are marched front to back and back to front. docs/lab.md explains the options \
and the columns.

Examples:
  canopy lab
  canopy lab cave.glb --walk private-stack,skip-links --structure radix,sah --html cave.html
  canopy lab cave.glb --write-rays rays
  canopy lab cave.glb --rays rays/diffuse-2.rays --test watertight,moller-trumbore --csv";

/// Parses the name of one of `all`.
fn of_names<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync {
    move |text: &str| {
        let found = all.iter().copied().find(|one| name(*one) == text);
        let names: Vec<_> = all.iter().map(|one| name(*one)).collect();
        found.ok_or_else(|| format!("expected one of {}", names.join(", ")))
    }
}
