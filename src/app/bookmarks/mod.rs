//! Saved views.

pub(in crate::app) mod actions;
pub(in crate::app) mod model;
