//! Looks: named sets of settings.

pub(in crate::app) mod actions;
pub(in crate::app) mod model;
