//! canopy

pub mod accel;
#[cfg(feature = "viewer")]
pub mod app;
pub mod cli;
pub mod config;
pub mod error;
pub mod gpu;
pub mod output;
pub mod reference;
pub mod render;
pub mod scene;

pub use error::{Error, Result};
