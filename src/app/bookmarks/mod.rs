//! Views that are saved.

pub(in crate::app) mod model;
pub(in crate::app) mod task;
