//! Statistics of the BVHs, and display options.

use crate::{
    config::BoxDepths,
    render::{RayKind, RayPath, TreeStatistics},
};
use std::sync::Arc;

/// Depths of the boxes that are shown first.
pub(in crate::app) const FIRST: BoxDepths = BoxDepths::Depths(0, 3);

/// Statistics of the BVHs, and display options.
#[derive(Debug)]
pub(in crate::app) struct TreeView {
    /// Depths to restore when boxes are turned on again.
    pub(in crate::app) before: BoxDepths,
    /// True if boxes are drawn for the selected mesh only.
    pub(in crate::app) of_selection: bool,
    /// True if the panel shows the statistics.
    pub(in crate::app) shows_figures: bool,
    /// Statistics of the BVHs. `None` until they are counted, or the reason why they cannot be counted.
    pub(in crate::app) figures: Option<Result<Arc<TreeStatistics>, String>>,
    /// True if the statistics belong to another pose or other settings, while the current ones are being
    /// counted.
    pub(in crate::app) figures_lag: bool,
    /// True if a click traces a ray.
    pub(in crate::app) traces: bool,
    /// Kind of rays that a click traces.
    pub(in crate::app) path_of: RayKind,
    /// Path of the traced rays.
    pub(in crate::app) path: Option<Arc<RayPath>>,
    /// Step of the path that is shown.
    pub(in crate::app) step: usize,
}

impl Default for TreeView {
    fn default() -> Self {
        Self {
            before: FIRST,
            of_selection: false,
            shows_figures: false,
            figures: None,
            figures_lag: false,
            traces: false,
            path_of: RayKind::default(),
            path: None,
            step: 0,
        }
    }
}
