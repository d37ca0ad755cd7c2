//! `canopy view`: the arguments of the viewer.

use super::options::{LookArgs, TimeArgs};
use clap::Args;
use std::path::PathBuf;

/// `canopy view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Scene files (.gltf, .glb, .obj) or folders with one; several make one scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Settings of the picture.
    #[command(flatten)]
    pub look: LookArgs,
    /// Time and variant.
    #[command(flatten)]
    pub time: TimeArgs,
    /// Reload when the files of the scene or of the environment change
    #[arg(long)]
    pub watch: bool,
    /// End after this many frames of the loaded scene
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u64).range(1..))]
    pub exit_after: Option<u64>,
    /// Save the window as this .png when --exit-after ends, and with F12
    #[arg(long, value_name = "FILE")]
    pub screenshot: Option<PathBuf>,
    /// When --exit-after ends, write frames, scenes, and the memory of the process and the GPU over time to
    /// this .json
    #[arg(long, value_name = "FILE", requires = "exit_after")]
    pub stats: Option<PathBuf>,
}
