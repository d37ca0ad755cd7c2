//! Twins of the passes of `environment`.

pub mod sky;
