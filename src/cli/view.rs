//! `canopy view`: arguments of the viewer.

use super::options::{LookArgs, TimeArgs};
use crate::{
    Error, Result,
    provenance::{Provenance, Search},
    scene::{self, picture::is_picture, saved_edits::SavedEdits},
};
use clap::Args;
use std::path::PathBuf;

/// Arguments of `canopy view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Scene files (.gltf, .glb, .obj), volumes (.vdb, .nvdb, .nrrd, .nhdr, .nii), folders, or - for standard
    /// input; or a picture written by canopy, to reopen its scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Additional volume file; may be repeated
    #[arg(long = "volume", value_name = "FILE", help_heading = "Picture")]
    pub volumes: Vec<PathBuf>,
    /// Appearance options.
    #[command(flatten)]
    pub look: LookArgs,
    /// Time and material variant.
    #[command(flatten)]
    pub time: TimeArgs,
    /// Edits of materials and lights, and hidden meshes (JSON)
    #[arg(long, value_name = "FILE.json")]
    pub edits: Option<PathBuf>,
    /// Reload when files of the scene or environment change
    #[arg(long)]
    pub watch: bool,
    /// Show a scene or picture (.png, .jpg, .exr) beside it, as side B
    #[arg(long, value_name = "FILE", help_heading = "Side by side")]
    pub compare: Option<PathBuf>,
    /// Setting for side B only; may be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Side by side")]
    pub compare_with: Vec<String>,
    /// Exit after this many frames of the loaded scene
    #[arg(
        long,
        value_name = "FRAMES",
        value_parser = clap::value_parser!(u64).range(1..),
        help_heading = "Without a person"
    )]
    pub exit_after: Option<u64>,
    /// Save the window as .png when --exit-after ends, and with F12
    #[arg(long, value_name = "FILE", help_heading = "Without a person")]
    pub screenshot: Option<PathBuf>,
    /// Write a profile on exit: .json (for Perfetto) or .csv
    #[arg(long, value_name = "FILE", help_heading = "Without a person")]
    pub profile: Option<PathBuf>,
    /// Write frames and memory over time as JSON when --exit-after ends
    #[arg(
        long,
        value_name = "FILE.json",
        requires = "exit_after",
        help_heading = "Without a person"
    )]
    pub stats: Option<PathBuf>,
}

impl ViewArgs {
    /// Returns the picture whose scene is to be reopened, if the only file is a picture.
    pub fn picture(&self) -> Option<PathBuf> {
        let [only] = &self.files[..] else { return None };
        is_picture(only).then(|| only.clone())
    }

    /// Returns all files of the scene.
    pub fn all_files(&self) -> Vec<PathBuf> {
        [&self.files[..], &self.volumes[..]].concat()
    }

    /// Opens the files of the picture [`Self::picture`] in its view, unless options override them.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if a file is missing.
    pub fn follow(&mut self, made: &Provenance, search: &Search<'_>) -> Result<()> {
        self.files = made.files(search)?;
        self.look.follow(made);
        Ok(())
    }

    /// Reads the initial edits of the scene.
    ///
    /// # Errors
    ///
    /// Any error of [`SavedEdits::read`].
    pub fn saved_edits(&self) -> Result<Option<SavedEdits>> {
        Ok(self.edits.as_deref().map(SavedEdits::read).transpose()?)
    }

    /// Fails if a file does not exist. This reports a mistyped name even without a display.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn check_files(&self) -> Result<()> {
        let all = self.all_files();
        let named = all.iter().filter(|file| !scene::is_stdin(file));
        let LookArgs { deviation, .. } = &self.look;
        let others = [
            self.look.env_file(),
            deviation.as_deref(),
            self.compare.as_deref(),
        ];
        let named = named.map(PathBuf::as_path);
        for file in named.chain(others.into_iter().flatten()) {
            std::fs::metadata(file).map_err(|e| Error::io(file, e))?;
        }
        Ok(())
    }
}
