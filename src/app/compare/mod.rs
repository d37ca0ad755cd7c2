//! Side-by-side comparison of two scenes or pictures.

pub(in crate::app) mod costs;
pub(in crate::app) mod model;
pub(in crate::app) mod side;
pub(in crate::app) mod task;
pub(in crate::app) mod view;
