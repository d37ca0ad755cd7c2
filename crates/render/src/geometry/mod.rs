//! Merged geometry of a frame, and the BVHs over it.

pub mod deform;
pub(super) mod last_positions;
pub mod tree_policy;
pub mod trees;
pub mod visible;
