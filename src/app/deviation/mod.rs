//! Distances of the scene to another surface.

pub(in crate::app) mod compared;
pub(in crate::app) mod figures;
pub(in crate::app) mod file;
pub(in crate::app) mod task;

use crate::scene::deviation::Statistics;
use file::ComparedWith;

/// The surface that the scene is compared with, and the distances to it.
#[derive(Debug, Default)]
pub(in crate::app) struct DeviationState {
    /// The surface that the scene is compared with.
    pub(in crate::app) compared: Option<ComparedWith>,
    /// Statistics of the distance. `None` until they are measured, or the reason why they cannot be measured.
    pub(in crate::app) figures: Option<Result<Statistics, String>>,
    /// True if the statistics belong to another pose, while the current one is being measured.
    pub(in crate::app) figures_lag: bool,
    /// True if the panel shows the statistics.
    pub(in crate::app) shows_figures: bool,
}
