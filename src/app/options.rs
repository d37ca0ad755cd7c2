//! What the viewer starts with.

use crate::{
    config::Config,
    provenance::Provenance,
    scene::{framing::Look, saved_edits::SavedEdits},
};
use std::path::PathBuf;

/// What the scene is compared with from the start: a file, or itself, with other settings.
#[derive(Debug, Clone)]
pub struct CompareOptions {
    /// A scene or a picture.
    pub file: Option<PathBuf>,
    /// Settings of the other side, as `KEY=VALUE`.
    pub with: Vec<String>,
}

/// What the viewer starts with.
#[derive(Debug, Clone)]
pub struct Options {
    /// Scene files; several make one scene, none is the built-in one.
    pub files: Vec<PathBuf>,
    /// The picture whose scene this is, to be shown as it was made.
    pub reopens: Option<Provenance>,
    /// Edits of the scene that is opened first.
    pub edits: Option<SavedEdits>,
    /// Settings, which the panel then changes.
    pub config: Config,
    /// Eye and target of the first view, as far as the command line gives them.
    pub look: Look,
    /// What the scene is compared with from the start.
    pub compare: Option<CompareOptions>,
    /// Number of frames of the loaded scene after which the viewer ends. An error then ends the viewer
    /// instead of being shown.
    pub exit_after: Option<u64>,
    /// File that pictures of the window are written to.
    pub screenshot: Option<PathBuf>,
    /// File that the figures are written to when [`Options::exit_after`] ends the viewer.
    pub stats: Option<PathBuf>,
    /// File that the profile of all frames is written to when the viewer ends.
    pub profile: Option<PathBuf>,
}
