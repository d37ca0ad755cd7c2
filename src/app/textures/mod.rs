//! The texture viewer.

pub(in crate::app) mod actions;
pub(in crate::app) mod model;
pub(in crate::app) mod task;
pub(in crate::app) mod thumbnails;
pub(in crate::app) mod view;
