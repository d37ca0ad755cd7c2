//! What the window knows of the trees, and how they are looked at.

use crate::{
    config::BoxDepths,
    render::{PathOf, RayPath, TreeFigures},
};
use std::sync::Arc;

/// Depths that are shown first.
pub(in crate::app) const FIRST: BoxDepths = BoxDepths::Depths(0, 3);

/// What is known of the trees, and how they are looked at.
#[derive(Debug)]
pub(in crate::app) struct TreeView {
    /// What is shown when boxes are shown again.
    pub(in crate::app) before: BoxDepths,
    /// Whether the boxes are those of the mesh that is selected.
    pub(in crate::app) of_selection: bool,
    /// Whether the panel shows figures.
    pub(in crate::app) tells_figures: bool,
    /// Figures of the trees; `None` until they are counted, and why where they cannot be.
    pub(in crate::app) figures: Option<Result<Arc<TreeFigures>, String>>,
    /// Whether they are those of another pose or of other settings, while these are counted.
    pub(in crate::app) figures_lag: bool,
    /// Whether a click traces a ray.
    pub(in crate::app) traces: bool,
    /// Which rays it traces.
    pub(in crate::app) path_of: PathOf,
    /// The rays that were traced.
    pub(in crate::app) path: Option<Arc<RayPath>>,
    /// The step of theirs that is shown.
    pub(in crate::app) step: usize,
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
