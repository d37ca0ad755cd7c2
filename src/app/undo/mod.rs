//! Undo and redo.

pub(in crate::app) mod actions;
pub(in crate::app) mod changes;
pub(in crate::app) mod edit_change;
pub(in crate::app) mod model;
pub(in crate::app) mod renumbered;
pub(in crate::app) mod words;
