//! The tree: radix sort, LBVH over many meshes in one batch, the TLAS offset table, and rays through them. Usable alone: give it
//! merged world-space triangles in GPU memory.
//!
//! ```text
//! bounds ─► morton ─► sort ─► regroup ─► sort ─► leaves ─► pyramid ─► hierarchy
//!                                                            └──────► tlas
//! ```
//!
//! The number of dispatches is [`lbvh::DISPATCHES`], whatever the number of meshes and triangles.

pub mod lbvh;
pub mod sort;
pub mod trace;
pub mod validate;

pub use lbvh::{Codes, Geometry, Lbvh, Tree, Work};
