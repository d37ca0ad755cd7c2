//! Trees of the scene as boxes and figures, and lines of meshes.

pub(in crate::app) mod actions;
pub(in crate::app) mod card;
pub(in crate::app) mod figures;
pub(in crate::app) mod lines;
pub(in crate::app) mod model;
pub(in crate::app) mod task;

use crate::app::lab::model::LabState;
use model::TreeView;

/// Trees, and what is drawn of them.
#[derive(Debug, Default)]
pub(in crate::app) struct TreeState {
    /// What is known of the trees, and how they are looked at.
    pub(in crate::app) view: TreeView,
    /// The laboratory.
    pub(in crate::app) lab: LabState,
    /// Whether lines over the picture are those of the mesh that is selected.
    pub(in crate::app) overlay_of_selection: bool,
}
