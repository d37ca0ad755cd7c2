//! Twins of the passes over environments.

pub mod project_sh;
