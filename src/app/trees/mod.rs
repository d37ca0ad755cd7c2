//! Trees of the scene as boxes and figures, and lines of meshes.

pub(in crate::app) mod actions;
pub(in crate::app) mod card;
pub(in crate::app) mod figures;
pub(in crate::app) mod lines;
pub(in crate::app) mod model;
pub(in crate::app) mod task;
