//! canopy

pub mod accel;
pub mod cli;
pub mod config;
pub mod error;
pub mod gpu;
pub mod reference;
pub mod render;
pub mod scene;

pub use error::{Error, Result};
