//! Input of the lab's measurements.

use super::volumes::Placed;
use crate::{
    cli::bench::inputs::Input,
    lab::{Triangle, ray_file::RaySet},
};

/// A scene as triangles and rays.
pub(super) struct Bench {
    pub(super) name: String,
    pub(super) triangles: Vec<Triangle>,
    pub(super) input: Input,
    pub(super) sets: Vec<RaySet>,
    pub(super) volumes: Vec<Placed>,
}
