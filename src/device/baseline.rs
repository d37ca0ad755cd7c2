//! Structs and constants of the textbook tree that `canopy bench trace` measures by.

use crate::gpu::{library::wgsl_constants, structs::gpu_structs};

wgsl_constants! {
    /// Entries of the stack of the traversal that `canopy bench trace` measures by.
    pub const BASELINE_STACK: u32 = 96;
}

gpu_structs! {
    /// A node of the textbook tree that `canopy bench trace` measures by.
    BaselineNode {
        lower: [f32; 3],
        /// A leaf's triangle, or the left child.
        left: u32,
        upper: [f32; 3],
        /// The right child; 0 for a leaf.
        right: u32,
    }
}
