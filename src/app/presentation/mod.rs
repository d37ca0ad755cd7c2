//! Presentation mode.

pub(in crate::app) mod model;
pub(in crate::app) mod task;
