//! BVHs of the scene as boxes and statistics, and mesh lines.

pub(in crate::app) mod actions;
pub(in crate::app) mod card;
pub(in crate::app) mod figures;
pub(in crate::app) mod lines;
pub(in crate::app) mod model;
pub(in crate::app) mod task;

use crate::app::lab::model::LabState;
use model::TreeView;

/// State of the BVH visualisation.
#[derive(Debug, Default)]
pub(in crate::app) struct TreeState {
    /// Statistics and display options of the BVHs.
    pub(in crate::app) view: TreeView,
    /// State of the lab.
    pub(in crate::app) lab: LabState,
    /// True if lines are drawn for the selected mesh only.
    pub(in crate::app) overlay_of_selection: bool,
}
