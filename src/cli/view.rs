//! `canopy view`: the arguments of the viewer.

use super::options::{LookArgs, TimeArgs};
use crate::{
    Error, Result,
    provenance::{Provenance, Search},
    scene::{self, picture::is_picture, saved_edits::SavedEdits},
};
use clap::Args;
use std::path::PathBuf;

/// `canopy view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Scene files (.gltf, .glb, .obj), volumes (.vdb, .nvdb, .nrrd, .nhdr, .nii), folders, or - for standard
    /// input; or a picture of canopy, to show its scene
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// A volume beside the files; may be repeated
    #[arg(long = "volume", value_name = "FILE", help_heading = "Picture")]
    pub volumes: Vec<PathBuf>,
    /// Settings of the picture.
    #[command(flatten)]
    pub look: LookArgs,
    /// Time and variant.
    #[command(flatten)]
    pub time: TimeArgs,
    /// Edits of materials and lights, and hidden meshes, as JSON
    #[arg(long, value_name = "FILE.json")]
    pub edits: Option<PathBuf>,
    /// Reload when the files of the scene or of the environment change
    #[arg(long)]
    pub watch: bool,
    /// Show a scene or a picture (.png, .jpg, .exr) beside it, as side B
    #[arg(long, value_name = "FILE", help_heading = "Side by side")]
    pub compare: Option<PathBuf>,
    /// A setting of side B alone; may be repeated
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Side by side")]
    pub compare_with: Vec<String>,
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
    /// When the viewer ends, write what every frame took: .json (for Perfetto) or .csv
    #[arg(long, value_name = "FILE", help_heading = "Without a person")]
    pub profile: Option<PathBuf>,
    /// When --exit-after ends, write frames and memory over time as JSON
    #[arg(
        long,
        value_name = "FILE.json",
        requires = "exit_after",
        help_heading = "Without a person"
    )]
    pub stats: Option<PathBuf>,
}

impl ViewArgs {
    /// The picture whose scene is to be shown as it was made.
    pub fn picture(&self) -> Option<PathBuf> {
        let [only] = &self.files[..] else { return None };
        is_picture(only).then(|| only.clone())
    }

    /// All files that make the scene.
    pub fn all_files(&self) -> Vec<PathBuf> {
        [&self.files[..], &self.volumes[..]].concat()
    }

    /// Shows the files of the picture [`Self::picture`], from its view, unless options say otherwise.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for one that is missing.
    pub fn follow(&mut self, made: &Provenance, search: &Search<'_>) -> Result<()> {
        self.files = made.files(search)?;
        self.look.follow(made);
        Ok(())
    }

    /// The edits that the scene begins with.
    ///
    /// # Errors
    ///
    /// Those of [`SavedEdits::read`].
    pub fn saved_edits(&self) -> Result<Option<SavedEdits>> {
        Ok(self.edits.as_deref().map(SavedEdits::read).transpose()?)
    }

    /// Fails for files that are not there, so that a mistyped name is an error without a display too.
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
