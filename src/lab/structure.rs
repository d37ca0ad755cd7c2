//! What is built over the triangles.

use super::{
    Triangle,
    binary_tree::BinaryTree,
    grid, kd_tree,
    layout::{Built, Layout},
    sah_tree,
    walk::Walk,
};
use crate::{Result, accel::tree::Quality as BuildQuality};

/// What is built over the triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// canopy's radix tree over Morton codes, built on the GPU.
    Radix,
    /// canopy's clustered tree, built on the GPU.
    Ploc,
    /// A tree by the surface area heuristic with bins.
    Sah,
    /// A uniform grid, built on the GPU.
    Grid,
    /// A grid of grids, built on the GPU.
    TwoLevel,
    /// A kd-tree by the surface area heuristic.
    KdTree,
}

impl Structure {
    /// All structures.
    pub const ALL: [Self; 6] = [
        Self::Radix,
        Self::Ploc,
        Self::Sah,
        Self::Grid,
        Self::TwoLevel,
        Self::KdTree,
    ];

    /// Name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Radix => "radix",
            Self::Ploc => "ploc",
            Self::Sah => "sah",
            Self::Grid => "grid",
            Self::TwoLevel => "two-level-grid",
            Self::KdTree => "kd-tree",
        }
    }

    /// How canopy builds it on the GPU, if it does.
    pub fn on_gpu(self) -> Option<BuildQuality> {
        match self {
            Self::Radix => Some(BuildQuality::Fast),
            Self::Ploc => Some(BuildQuality::High),
            _ => None,
        }
    }

    /// Whether it is a grid, which [`GridBuild`](super::grid_build::GridBuild) builds on the GPU: and of two levels.
    pub fn grid_levels(self) -> Option<bool> {
        match self {
            Self::Grid => Some(false),
            Self::TwoLevel => Some(true),
            _ => None,
        }
    }

    /// Whether rays can go through it so.
    pub fn has(self, walk: Walk) -> bool {
        match self {
            Self::Radix | Self::Ploc | Self::Sah => {
                matches!(walk.layout(), Layout::Binary | Layout::Skip | Layout::Wide)
            }
            Self::Grid => walk == Walk::Grid,
            Self::TwoLevel => walk == Walk::TwoLevel,
            Self::KdTree => walk == Walk::KdTree,
        }
    }

    /// The binary tree that the CPU builds, down to leaves of one triangle; `None` where the GPU does, or
    /// where it is no binary tree.
    pub fn tree(self, triangles: &[Triangle]) -> Option<BinaryTree> {
        (self == Self::Sah).then(|| sah_tree::build(triangles))
    }

    /// A grid or a kd-tree, built on the CPU; `None` of the others.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where triangles lie in too many cells.
    pub fn cells(self, triangles: &[Triangle]) -> Result<Option<Built>> {
        Ok(Some(match self {
            Self::Grid => grid::uniform(triangles)?,
            Self::TwoLevel => grid::two_level(triangles)?,
            Self::KdTree => kd_tree::build(triangles)?,
            Self::Radix | Self::Ploc | Self::Sah => return Ok(None),
        }))
    }
}
