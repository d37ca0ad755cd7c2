//! `canopy view`: the arguments of the viewer.

use super::options::{LookArgs, TimeArgs};
use clap::Args;
use std::path::PathBuf;

/// `canopy view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Scene files (.gltf, .glb, .obj), or - for standard input; several make one scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Settings of the picture.
    #[command(flatten)]
    pub look: LookArgs,
    /// Time and variant.
    #[command(flatten)]
    pub time: TimeArgs,
    /// End after this many frames of the loaded scene
    #[arg(
        long,
        value_name = "FRAMES",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Without a person"
    )]
    pub exit_after: Option<u64>,
    /// Save the window as this .png when --exit-after ends, and with F12
    #[arg(long, value_name = "FILE", help_heading = "Without a person")]
    pub screenshot: Option<PathBuf>,
    /// When --exit-after ends, write frames and memory over time as JSON
    #[arg(
        long,
        value_name = "FILE.json",
        requires = "exit_after",
        help_heading = "Without a person"
    )]
    pub stats: Option<PathBuf>,
}
