//! Views that are saved.

pub(in crate::app) mod actions;
pub(in crate::app) mod model;
