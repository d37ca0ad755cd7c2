//! What is built over the triangles.

use super::{
    Triangle,
    binary_tree::BinaryTree,
    grid, kd_tree,
    layout::{Built, Layout},
    sah_tree,
    walk::Walk,
};
use canopy_bvh::{Error, Result, accel::tree::Quality as BuildQuality};

pub use crate::settings::LabStructure as Structure;

impl Structure {
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

    /// Fails for a walk that does not go through it.
    ///
    /// # Errors
    ///
    /// [`Error::Argument`], which names those that do.
    pub fn check(self, walk: Walk) -> Result<()> {
        if self.has(walk) {
            return Ok(());
        }
        let fitting = Walk::ALL.into_iter().filter(|walk| self.has(*walk));
        let fitting: Vec<_> = fitting.map(Walk::name).collect();
        Err(Error::Argument(format!(
            "the walk {} does not go through the structure {}; {} would",
            walk.name(),
            self.name(),
            fitting.join(", ")
        )))
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
    /// [`Error::Limit`] where triangles lie in too many cells.
    pub fn cells(self, triangles: &[Triangle]) -> Result<Option<Built>> {
        Ok(Some(match self {
            Self::Grid => grid::uniform(triangles)?,
            Self::TwoLevel => grid::two_level(triangles)?,
            Self::KdTree => kd_tree::build(triangles)?,
            Self::Radix | Self::Ploc | Self::Sah => return Ok(None),
        }))
    }
}
