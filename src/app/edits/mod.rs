//! Edits of the scene.

pub(in crate::app) mod files;
pub(in crate::app) mod model;
pub(in crate::app) mod task;
