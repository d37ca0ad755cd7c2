//! Distances from another surface.

pub(in crate::app) mod figures;
pub(in crate::app) mod file;
pub(in crate::app) mod task;
