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

/// Changes of settings and edits.
#[derive(Debug)]
pub(in crate::app) struct UndoState {
    /// Settings at the start.
    pub(in crate::app) initial: Config,
    /// Settings that differ from those at the start.
    pub(in crate::app) changes: Changes,
    /// Undo history.
    pub(in crate::app) undo: Undo,
}
