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

/// State of panels and cards over the picture.
#[derive(Debug, Default)]
pub(in crate::app) struct UiState {
    /// Active keymap.
    pub(in crate::app) keymap: Rc<Keymap>,
    /// True if the layout of the panel is kept in a file.
    pub(in crate::app) keeps_layout: bool,
    /// True if the panel is shown.
    pub(in crate::app) panel: bool,
    /// True if the help is shown.
    pub(in crate::app) help: bool,
    /// Last error, until the user closes it.
    pub(in crate::app) error: Option<Failure>,
    /// Notice that is shown for a moment, and the time at which it appeared.
    pub(in crate::app) notice: Option<(String, std::time::Instant)>,
    /// The command palette while it is open.
    pub(in crate::app) palette: Option<Palette>,
    /// Setting that the panel jumps to.
    pub(in crate::app) jump: Option<Jump>,
    /// Search field for settings.
    pub(in crate::app) finder: Finder,
    /// Panel state that is kept between runs.
    pub(in crate::app) layout: PanelLayout,
    /// Text for the clipboard.
    pub(in crate::app) copied: Option<String>,
    /// Actions of the panel's buttons that are still to be performed.
    pub(in crate::app) actions: Vec<Action>,
}

/// An error to show to the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) struct Failure {
    /// Name of the failed operation.
    pub(in crate::app) headline: String,
    /// Reason of the failure.
    pub(in crate::app) text: String,
}
