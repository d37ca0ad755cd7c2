//! A ray that is traced step by step.

pub(in crate::app) mod model;
pub(in crate::app) mod task;
pub(in crate::app) mod view;
