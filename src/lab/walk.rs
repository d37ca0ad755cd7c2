//! How rays go through a structure.

use super::layout::Layout;
use crate::{
    accel::layout::TRACE_BLOCK,
    gpu::layout::{LAB_STACK, LAB_WORKGROUP_WORDS},
};

/// Entries of a thread's stack in workgroup memory.
const WORKGROUP_STACK: u32 = LAB_WORKGROUP_WORDS / TRACE_BLOCK;

/// A walk: `shaders/lab/walk_….wgsl`, whose headers name the sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// A stack in private memory.
    Private,
    /// A stack in workgroup memory.
    Workgroup,
    /// A short stack in registers, and a trail to start again by.
    Restart,
    /// Links to parents and a trail of bits; no stack.
    Parents,
    /// Skip links, from left to right; no stack.
    Skip,
    /// Nodes of four children.
    Wide,
    /// The cells of a uniform grid.
    Grid,
    /// The cells of a grid of grids.
    TwoLevel,
    /// A kd-tree with a short stack.
    KdTree,
}

impl Walk {
    /// All walks.
    pub const ALL: [Self; 9] = [
        Self::Private,
        Self::Workgroup,
        Self::Restart,
        Self::Parents,
        Self::Skip,
        Self::Wide,
        Self::Grid,
        Self::TwoLevel,
        Self::KdTree,
    ];

    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private-stack",
            Self::Workgroup => "workgroup-stack",
            Self::Restart => "short-stack",
            Self::Parents => "parent-links",
            Self::Skip => "skip-links",
            Self::Wide => "four-wide",
            Self::Grid => "cells",
            Self::TwoLevel => "cells-of-cells",
            Self::KdTree => "kd-short-stack",
        }
    }

    /// Its shader.
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

    /// What it walks through.
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

    /// Levels of nodes that it has room for: entries of the stack, or bits of the trail.
    pub fn most_levels(self) -> u32 {
        match self {
            Self::Private => LAB_STACK,
            Self::Workgroup => WORKGROUP_STACK,
            Self::Restart | Self::Parents => 64,
            // Three entries a level.
            Self::Wide => LAB_STACK / 3,
            Self::Skip | Self::Grid | Self::TwoLevel | Self::KdTree => u32::MAX,
        }
    }
}
