//! Distances from another surface.

pub(in crate::app) mod compared;
pub(in crate::app) mod figures;
pub(in crate::app) mod file;
pub(in crate::app) mod task;

use crate::scene::deviation::Statistics;
use file::ComparedWith;

/// The surface that the scene is compared with, and the distances from it.
#[derive(Debug, Default)]
pub(in crate::app) struct DeviationState {
    /// The surface that the scene is compared with.
    pub(in crate::app) compared: Option<ComparedWith>,
    /// Figures of the distance from it; `None` until they are measured, and why where they cannot be.
    pub(in crate::app) figures: Option<Result<Statistics, String>>,
    /// Whether they are those of another pose, while the one that is shown is measured.
    pub(in crate::app) figures_lag: bool,
    /// Whether the panel shows them.
    pub(in crate::app) tells_figures: bool,
}
