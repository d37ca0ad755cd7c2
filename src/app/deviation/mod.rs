//! Deviation of the scene from a reference surface.

pub(in crate::app) mod compared;
pub(in crate::app) mod figures;
pub(in crate::app) mod file;
pub(in crate::app) mod task;

use crate::scene::deviation::Statistics;
use file::ComparedWith;

/// State of the deviation that the panel shows.
#[derive(Debug, Default)]
pub(in crate::app) struct DeviationState {
    /// Properties of the reference surface. `None` without one.
    pub(in crate::app) compared: Option<ComparedWith>,
    /// Statistics of the deviation, or the reason why they cannot be measured. `None` until they are
    /// measured.
    pub(in crate::app) figures: Option<Result<Statistics, String>>,
    /// True while the statistics of the current pose are not known. `figures` may then hold those of an
    /// earlier pose.
    pub(in crate::app) figures_lag: bool,
    /// True if the panel shows the statistics.
    pub(in crate::app) shows_figures: bool,
}
