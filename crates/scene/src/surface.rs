//! Computation of normals and tangents that a file does not have.

mod normals;
mod tangents;
mod vertices;

pub(super) use normals::{creased_normals, flat_normals, smooth_normals, weld};
pub(super) use tangents::{any_tangents, tangents};
