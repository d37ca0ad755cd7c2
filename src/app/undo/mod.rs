//! Undo and redo.

pub(in crate::app) mod actions;
pub(in crate::app) mod changes;
pub(in crate::app) mod edit_change;
pub(in crate::app) mod model;
pub(in crate::app) mod renumbered;
pub(in crate::app) mod words;

use crate::config::Config;
use changes::Changes;
use model::Undo;

/// Settings and edits that have changed.
#[derive(Debug)]
pub(in crate::app) struct UndoState {
    /// Settings at the start.
    pub(in crate::app) initial: Config,
    /// The settings that differ from those at the start.
    pub(in crate::app) changes: Changes,
    /// Changes of settings that can be taken back.
    pub(in crate::app) undo: Undo,
}
