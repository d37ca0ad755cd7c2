//! Acceleration structures over the triangles.

use super::{
    Triangle,
    binary_tree::BinaryTree,
    grid, kd_tree,
    layout::{Layout, StructureData},
    sah_tree,
    walk::Walk,
};
use canopy_bvh::{Error, Result, accel::tree::Quality as BuildQuality};

pub use crate::settings::LabStructure as Structure;

impl Structure {
    /// Returns the quality of canopy's GPU builder for this structure, if it builds it.
    pub fn on_gpu(self) -> Option<BuildQuality> {
        match self {
            Self::Radix => Some(BuildQuality::Fast),
            Self::Ploc => Some(BuildQuality::High),
            _ => None,
        }
    }

    /// Returns true for a two-level grid, false for a uniform one and `None` for other structures.
    /// [`GridBuild`](super::grid_build::GridBuild) builds grids on the GPU.
    pub fn grid_levels(self) -> Option<bool> {
        match self {
            Self::Grid => Some(false),
            Self::TwoLevel => Some(true),
            _ => None,
        }
    }

    /// True if `walk` can traverse the structure.
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

    /// Fails if `walk` cannot traverse the structure.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`] with the names of the walks that can traverse it.
    pub fn check(self, walk: Walk) -> Result<()> {
        if self.has(walk) {
            return Ok(());
        }
        let fitting = Walk::ALL.into_iter().filter(|walk| self.has(*walk));
        let fitting: Vec<_> = fitting.map(Walk::name).collect();
        Err(Error::Argument(format!(
            "the traversal {} does not support the structure {}; use {}",
            walk.name(),
            self.name(),
            fitting.join(", ")
        )))
    }

    /// Returns the binary tree that the CPU builds, down to leaves of one triangle. `None` if the GPU builds
    /// it, or if it is no binary tree.
    pub fn tree(self, triangles: &[Triangle]) -> Option<BinaryTree> {
        (self == Self::Sah).then(|| sah_tree::build(triangles))
    }

    /// Returns the grid or kd-tree, built on the CPU. `None` for other structures.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if triangles overlap too many cells.
    pub fn cells(self, triangles: &[Triangle]) -> Result<Option<StructureData>> {
        Ok(Some(match self {
            Self::Grid => grid::uniform(triangles)?,
            Self::TwoLevel => grid::two_level(triangles)?,
            Self::KdTree => kd_tree::build(triangles)?,
            Self::Radix | Self::Ploc | Self::Sah => return Ok(None),
        }))
    }
}
