//! `canopy selftest`: compares every stage on this adapter with its CPU reference, rays with every triangle,
//! and the implementations that the adapter supports with each other.

mod checks;
mod environment;
mod frame;
mod implementations;
mod rays;
mod trees;

use super::{
    adapters::adapter_json,
    console::{json_text, print},
};
use crate::{Error, Result, config::Config, gpu::profiler::Stopwatch, output};
use checks::{Check, Checks};
use clap::Args;
use implementations::Implementation;
use serde_json::json;
use std::{fmt::Write, path::PathBuf};

/// Arguments of `canopy selftest`.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// Write the report to this file, to be attached to an issue
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Skip implementations that canopy does not choose on this adapter
    #[arg(long)]
    pub chosen: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs all checks.
///
/// # Errors
///
/// [`Error::WrongResult`] if a check fails, [`Error::Gpu`] without an adapter, and any error of writing the
/// report.
pub fn run(args: &SelftestArgs, config: &Config) -> Result<()> {
    if let Some(path) = &args.output {
        output::check_writable(path)?;
    }
    let implementations = match args.chosen {
        true => vec![implementations::chosen(config)?],
        false => implementations::all(config)?,
    };
    let Some(Implementation { gpu, .. }) = implementations.first() else {
        return Err(Error::Gpu("no implementation suits the adapter".into()));
    };
    let stopwatch = Stopwatch::new();
    let mut checks = Checks {
        is_quiet: args.json,
        ..Checks::default()
    };
    if !args.json {
        print(&header(&gpu.info))?;
    }
    trees::check(&mut checks, &implementations);
    rays::check(&mut checks, &implementations);
    environment::check(&mut checks, &implementations);
    frame::check(&mut checks, &frame::Device { gpu, config });
    let (made, failed) = (checks.made.len(), checks.failed());
    let secs = stopwatch.ms() / 1e3;
    let verdict = match failed {
        0 => format!("all {made} checks hold"),
        _ => format!("{failed} of {made} checks fail"),
    };
    let summary = format!("{verdict}, in {secs:.0} s\n");
    let list = || checks.made.iter().map(Check::json).collect::<Vec<_>>();
    if args.json {
        print(&json_text(&json!({
            "adapter": adapter_json(&gpu.info),
            "capabilities": format!("{:?}", gpu.capabilities),
            "failed": failed,
            "secs": secs,
            "checks": list(),
        })))?;
    } else {
        print(&summary)?;
    }
    if let Some(path) = &args.output {
        let mut report = header(&gpu.info);
        writeln!(report, "{:#?}\n{:#?}\n", gpu.capabilities, gpu.limits).ok();
        report.extend(checks.made.iter().map(Check::line));
        report += &summary;
        output::write(path, report.as_bytes())?;
    }
    match failed {
        0 => Ok(()),
        _ => Err(Error::WrongResult(verdict)),
    }
}

fn header(info: &wgpu::AdapterInfo) -> String {
    let (name, backend) = (&info.name, info.backend);
    let (driver, version) = (&info.driver, &info.driver_info);
    let canopy = env!("CARGO_PKG_VERSION");
    format!("canopy {canopy} on {name} ({backend}; {driver} {version})\n")
}
