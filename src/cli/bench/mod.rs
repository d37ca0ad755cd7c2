//! `canopy bench`: benchmarks on any adapter, measured with GPU timestamps.
//!
//! A suite selects its workloads (`workloads`, [`inputs`]), repeats each of them ([`timing`]) and adds runs
//! to a `report`. `floor` computes the minimum memory traffic of each stage. `baseline` is a textbook
//! traversal for comparison.

mod args;
mod baseline;
mod build;
mod compile;
mod copy;
mod floor;
mod frame;
pub mod inputs;
pub(super) mod irradiance;
mod lockstep;
mod path;
mod pathtrace;
mod progress;
mod query;
pub(super) mod rays;
pub(super) mod report;
mod session;
mod sort;
pub mod timing;
mod trace;
pub(super) mod trees;
mod workloads;

pub use args::{BenchArgs, Suite};

use super::{
    adapters::adapter_json,
    console::{json_text, print},
};
use crate::{Error, Result, config::Config};
use report::{Column, Report};
use session::Session;
use timing::{Meter, Sampling};

/// Runs a suite and prints its report.
///
/// # Errors
///
/// [`Error::Usage`] for an option that does not apply to the suite. [`Error::WrongResult`] if a result fails
/// its check. Any error of loading and drawing.
pub fn run(args: &BenchArgs, mut config: Config, quiet: bool) -> Result<()> {
    args.check()?;
    for file in &args.files {
        std::fs::metadata(file).map_err(|e| Error::io(file, e))?;
    }
    if let Some(cutoff) = args.leaf_cutoff {
        config.set("--leaf-cutoff", "tree.leaf_cutoff", i64::from(cutoff))?;
    }
    let gpu = crate::device::open(&config.gpu)?;
    let software = !gpu.capabilities.has_gpu;
    let mut report = Report::new(args.suite.name(), adapter_json(&gpu.info));
    let sampling = Sampling {
        samples: args.samples,
        warm_up: args.warm_up(),
        budget_ms: if software { 1e3 } else { 3e3 },
    };
    let mut meter = Meter::new(gpu, sampling)?;
    if !matches!(args.suite, Suite::Frame | Suite::Path | Suite::Compile) {
        report.copy_gb_per_s = Some(floor::copy_gb_per_s(&mut meter)?);
    }
    let mut session = Session {
        args,
        config: &config,
        quiet,
        software,
        meter,
        report,
    };
    match args.suite {
        Suite::Sort => sort::run(&mut session)?,
        Suite::Build => build::run(&mut session)?,
        Suite::Trace => trace::run(&mut session)?,
        Suite::Query => query::run(&mut session)?,
        Suite::Frame => frame::run(&mut session)?,
        Suite::Path => path::run(&mut session)?,
        Suite::Pathtrace => pathtrace::run(&mut session)?,
        Suite::Irradiance => irradiance::run(&mut session)?,
        Suite::Compile => compile::run(&mut session)?,
    }
    print(&if args.json {
        json_text(&session.report.json())
    } else {
        session.report.text(columns(args.suite))
    })
}

/// Returns the table columns of a suite.
fn columns(suite: Suite) -> &'static [Column] {
    match suite {
        Suite::Sort => sort::COLUMNS,
        Suite::Build => build::COLUMNS,
        Suite::Trace => trace::COLUMNS,
        Suite::Query => query::COLUMNS,
        Suite::Frame => frame::COLUMNS,
        Suite::Path => path::COLUMNS,
        Suite::Pathtrace => pathtrace::COLUMNS,
        Suite::Irradiance => irradiance::COLUMNS,
        Suite::Compile => compile::COLUMNS,
    }
}
