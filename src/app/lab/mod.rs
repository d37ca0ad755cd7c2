//! The lab: alternative BVHs and traversals for comparison.

pub(in crate::app) mod model;
pub(in crate::app) mod task;
