//! State of panels and cards.

use super::layout::PanelLayout;
use crate::app::{
    input::{keymap::Keymap, keys::Action},
    palette::{
        jump::{Finder, Jump},
        model::Palette,
    },
};
use std::rc::Rc;

/// Panels and cards over the picture.
#[derive(Debug, Default)]
pub(in crate::app) struct UiState {
    /// The keys in force.
    pub(in crate::app) keymap: Rc<Keymap>,
    /// Whether the layout of the panel is kept in a file.
    pub(in crate::app) keeps_layout: bool,
    /// Whether the panel is shown.
    pub(in crate::app) panel: bool,
    /// Whether the help is shown.
    pub(in crate::app) help: bool,
    /// The last error, until the person closes it.
    pub(in crate::app) error: Option<Failure>,
    /// A message that is shown for a moment, and since when.
    pub(in crate::app) notice: Option<(String, std::time::Instant)>,
    /// The command palette while it is open.
    pub(in crate::app) palette: Option<Palette>,
    /// The setting that the panel goes to.
    pub(in crate::app) jump: Option<Jump>,
    /// The field that finds settings.
    pub(in crate::app) finder: Finder,
    /// The panel's width and foldings.
    pub(in crate::app) layout: PanelLayout,
    /// Text for the clipboard.
    pub(in crate::app) copied: Option<String>,
    /// Actions of the panel's buttons that have not been performed yet.
    pub(in crate::app) actions: Vec<Action>,
}

/// Something that failed, for the person to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct Failure {
    /// What failed.
    pub(in crate::app) headline: String,
    /// Why.
    pub(in crate::app) text: String,
}
