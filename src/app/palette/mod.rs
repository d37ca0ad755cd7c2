//! Command palette, and other ways to find settings.

pub(in crate::app) mod actions;
pub(in crate::app) mod channels;
pub(in crate::app) mod jump;
pub(in crate::app) mod model;
pub(in crate::app) mod view;
