//! The environment and its sun.

pub(in crate::app) mod file;
pub(in crate::app) mod sun;
