//! Opening, watching and saving files.

pub(in crate::app) mod browser;
pub(in crate::app) mod browser_view;
pub(in crate::app) mod command_line;
pub(in crate::app) mod dropped;
pub(in crate::app) mod loading;
pub(in crate::app) mod offers;
pub(in crate::app) mod offers_view;
pub(in crate::app) mod pictures;
pub(in crate::app) mod recent;
pub(in crate::app) mod reopen;
pub(in crate::app) mod save;
pub(in crate::app) mod scene;
pub(in crate::app) mod shaders;
pub(in crate::app) mod task;
pub(in crate::app) mod unsaved;
pub(in crate::app) mod watch;

use crate::app::{bookmarks::model::Bookmarks, export::model::Export, looks::model::Looks};
use offers::Suggestion;
use recent::Opened;

/// State of opening and saving files.
#[derive(Debug, Default)]
pub(in crate::app) struct FileState {
    /// Open suggestions about the shown scene.
    pub(in crate::app) offers: Vec<Suggestion>,
    /// Recent file that the palette requests to open.
    pub(in crate::app) opens: Option<Opened>,
    /// Views that the user has saved.
    pub(in crate::app) bookmarks: Bookmarks,
    /// Available looks.
    pub(in crate::app) looks: Looks,
    /// State of the export.
    pub(in crate::app) export: Export,
}
