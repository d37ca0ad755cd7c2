//! canopy

pub mod config;
pub mod error;
pub mod accel;
pub mod gpu;
pub mod render;
pub mod scene;

pub use error::{Error, Result};
