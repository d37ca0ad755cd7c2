//! The timeline.

pub(in crate::app) mod model;
pub(in crate::app) mod view;
