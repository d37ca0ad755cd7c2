//! The scene tree.

pub(in crate::app) mod actions;
pub(in crate::app) mod model;
#[cfg(test)]
mod tests;
pub(in crate::app) mod view;
