//! `canopy info`: lists the contents of files, and what canopy ignores in them.

mod describe;
mod text;

pub(in crate::cli) use describe::counts;

use super::{
    console::{print, print_json},
    report::Report,
};
use crate::{
    Result,
    config::Config,
    scene::{self, Progress},
};
use clap::Args;
use describe::Whole;
use serde_json::json;
use std::{path::PathBuf, sync::Arc};

/// Arguments of `canopy info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// Scene files and volumes, merged into one scene, or - for standard input; default: the built-in one
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Additional volume file; may be repeated
    #[arg(long = "volume", value_name = "FILE")]
    pub volumes: Vec<PathBuf>,
    /// List everything, without a limit on the length of lists
    #[arg(long)]
    pub all: bool,
    /// Print JSON, which always lists everything
    #[arg(long)]
    pub json: bool,
}

/// Loads the files and describes the scene.
///
/// # Errors
///
/// Any error of [`scene::load`].
pub fn run(args: &InfoArgs, config: &Config, quiet: bool) -> Result<()> {
    let files = [&args.files[..], &args.volumes[..]].concat();
    let mut scene = {
        let report = Report::new(quiet);
        let progress = Arc::new(Progress::default());
        report.line.loading(&progress);
        report.stage("load", "the scene", || {
            scene::load(&files, &config.load, &progress)
        })?
    };
    scene.set_up_axis(config.scene.up);
    let mut description = describe::describe(&scene, config.scene.up);
    let files: Vec<_> = files.iter().map(|f| f.display().to_string()).collect();
    description["files"] = json!(files);
    let longest = if args.all { usize::MAX } else { text::LONGEST };
    let tree: Vec<_> = describe::nodes(&scene).collect();
    if args.json {
        let description = &description;
        return print_json(&Whole { description, tree });
    }
    print(&text::text(&description, &tree, longest))
}
