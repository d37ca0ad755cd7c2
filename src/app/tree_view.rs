//! What the window knows of the trees, and how they are looked at.

use crate::{
    config::BoxDepths,
    render::{PathOf, RayPath, TreeFigures},
};
use std::sync::Arc;

/// Depths that are shown first.
pub(super) const FIRST: BoxDepths = BoxDepths::Depths(0, 3);

/// What is known of the trees, and how they are looked at.
#[derive(Debug)]
pub(super) struct TreeView {
    /// What is shown when boxes are shown again.
    pub(super) before: BoxDepths,
    /// Whether the boxes are those of the mesh that is selected.
    pub(super) of_selection: bool,
    /// Whether the panel shows figures.
    pub(super) tells_figures: bool,
    /// Figures of the trees; `None` until they are counted, and why where they cannot be.
    pub(super) figures: Option<Result<Arc<TreeFigures>, String>>,
    /// Whether they are those of another pose or of other settings, while these are counted.
    pub(super) figures_lag: bool,
    /// Whether a click traces a ray.
    pub(super) traces: bool,
    /// Which rays it traces.
    pub(super) path_of: PathOf,
    /// The rays that were traced.
    pub(super) path: Option<Arc<RayPath>>,
    /// The step of theirs that is shown.
    pub(super) step: usize,
}

impl Default for TreeView {
    fn default() -> Self {
        Self {
            before: FIRST,
            of_selection: false,
            tells_figures: false,
            figures: None,
            figures_lag: false,
            traces: false,
            path_of: PathOf::default(),
            path: None,
            step: 0,
        }
    }
}
