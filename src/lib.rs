//! canopy

pub mod config;
pub mod error;
pub mod reference;
pub mod scene;

pub use error::{Error, Result};
