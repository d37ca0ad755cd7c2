#![doc = include_str!("../README.md")]

pub mod accel;
pub mod error;
pub mod gpu;

pub use error::{Error, Result};
pub use wgpu;
