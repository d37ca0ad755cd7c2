//! Traversals of acceleration structures.

use super::layout::Layout;
use crate::data::{LAB_STACK, LAB_WORKGROUP_WORDS};
use canopy_bvh::accel::layout::TRACE_BLOCK;

pub use crate::settings::LabWalk as Walk;

/// Number of stack entries of a thread in workgroup memory.
const WORKGROUP_STACK: u32 = LAB_WORKGROUP_WORDS / TRACE_BLOCK;

impl Walk {
    /// Returns the path of the traversal's shader.
    pub fn shader(self) -> &'static str {
        match self {
            Self::Private => "lab/walk_private.wgsl",
            Self::Workgroup => "lab/walk_workgroup.wgsl",
            Self::Restart => "lab/walk_restart.wgsl",
            Self::Parents => "lab/walk_parents.wgsl",
            Self::Skip => "lab/walk_skip.wgsl",
            Self::Wide => "lab/walk_wide.wgsl",
            Self::Grid => "lab/walk_grid.wgsl",
            Self::TwoLevel => "lab/walk_two_level.wgsl",
            Self::KdTree => "lab/walk_kd_tree.wgsl",
        }
    }

    /// Returns the memory layout that it traverses.
    pub fn layout(self) -> Layout {
        match self {
            Self::Private | Self::Workgroup | Self::Restart | Self::Parents => Layout::Binary,
            Self::Skip => Layout::Skip,
            Self::Wide => Layout::Wide,
            Self::Grid => Layout::Grid,
            Self::TwoLevel => Layout::TwoLevel,
            Self::KdTree => Layout::KdTree,
        }
    }

    /// Returns the maximum number of levels of nodes, limited by the entries of the stack or the bits of the
    /// trail.
    pub fn most_levels(self) -> u32 {
        match self {
            Self::Private => LAB_STACK,
            Self::Workgroup => WORKGROUP_STACK,
            Self::Restart | Self::Parents => 64,
            // Each level pushes up to three entries.
            Self::Wide => LAB_STACK / 3,
            Self::Skip | Self::Grid | Self::TwoLevel | Self::KdTree => u32::MAX,
        }
    }
}
