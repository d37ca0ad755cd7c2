//! Structs and constants of the textbook BVH that `canopy bench trace` compares with.

use crate::gpu::{library::wgsl_constants, structs::gpu_structs};

wgsl_constants! {
    /// Number of stack entries of the textbook traversal that `canopy bench trace` compares with.
    pub const BASELINE_STACK: u32 = 96;
}

gpu_structs! {
    /// Node of the textbook BVH that `canopy bench trace` compares with.
    BaselineNode {
        lower: [f32; 3],
        /// Triangle of a leaf, or left child of an inner node.
        left: u32,
        upper: [f32; 3],
        /// Right child of an inner node, or 0 for a leaf.
        right: u32,
    }
}
