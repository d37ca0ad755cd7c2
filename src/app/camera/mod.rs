//! The camera, and whoever moves it.

pub(in crate::app) mod arm;
pub(in crate::app) mod model;
pub(in crate::app) mod motion;
pub(in crate::app) mod obstacles;
pub(in crate::app) mod path_keys;
pub(in crate::app) mod projector;
pub(in crate::app) mod walker;
