//! The presentation.

pub(in crate::app) mod model;
pub(in crate::app) mod task;
