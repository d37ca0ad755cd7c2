//! The tree: radix sort, LBVH over many meshes in one batch, a TLAS of the same kind above them, and rays through them. Usable alone: give it
//! merged world-space triangles in GPU memory.
//!
//! ```text
//! bounds ─► tlas, morton ─► sort (─► regroup ─► sort)* ─► leaves ─► pyramid ─► hierarchy
//!                                                     └─► grow    on software adapters
//! ```
//!
//! Meshes are sorted and joined like triangles, as one more mesh behind the others: the TLAS needs no dispatch of its own but the one that writes
//! the offset table.

pub mod codes;
pub mod cost;
mod grow;
pub mod hierarchy;
pub mod lbvh;
pub mod sort;
pub mod trace;
pub mod validate;

pub use codes::Codes;
pub use cost::{Cost, TreeCost};
pub use lbvh::{Geometry, Lbvh, Tree, Work};
