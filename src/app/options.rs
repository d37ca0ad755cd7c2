//! Start options of the viewer.

use crate::{
    config::Config,
    provenance::Provenance,
    scene::{framing::Look, saved_edits::SavedEdits},
};
use std::path::PathBuf;

/// Initial comparison: a file, or the same scene with other settings.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// Scene or picture to compare with. `None` for the same scene.
    pub file: Option<PathBuf>,
    /// Settings of the other side, as `KEY=VALUE`.
    pub with: Vec<String>,
}

/// Start options of the viewer.
#[derive(Debug, Clone)]
pub struct Options {
    /// Scene files. Several files make one scene, and an empty list means the built-in scene.
    pub files: Vec<PathBuf>,
    /// Provenance of a picture whose scene is opened again. The scene is shown as in that picture.
    pub reopens: Option<Provenance>,
    /// Edits of the scene that is opened first.
    pub edits: Option<SavedEdits>,
    /// Settings at the start.
    pub config: Config,
    /// Eye and target of the first view, if the command line gives them.
    pub look: Look,
    /// Comparison from the start.
    pub compare: Option<CompareOptions>,
    /// Number of frames of the loaded scene after which the viewer ends. An error then ends the viewer
    /// instead of being shown.
    pub exit_after: Option<u64>,
    /// File that pictures of the window are written to.
    pub screenshot: Option<PathBuf>,
    /// File for statistics, written when [`Options::exit_after`] ends the viewer.
    pub stats: Option<PathBuf>,
    /// File for the profile of all frames, written when the viewer ends.
    pub profile: Option<PathBuf>,
}
