//! Step-by-step inspection of a traced ray.

pub(in crate::app) mod model;
pub(in crate::app) mod task;
pub(in crate::app) mod view;
