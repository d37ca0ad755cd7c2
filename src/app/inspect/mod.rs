//! Inspection of the scene: selection, measurement, and views of the properties of objects.

pub(in crate::app) mod actions;
pub(in crate::app) mod card;
pub(in crate::app) mod clicks;
pub(in crate::app) mod light;
pub(in crate::app) mod light_marks;
pub(in crate::app) mod material;
pub(in crate::app) mod measure;
pub(in crate::app) mod mesh_gap;
pub(in crate::app) mod rows;
pub(in crate::app) mod selection;
pub(in crate::app) mod task;
pub(in crate::app) mod view;

use crate::app::{outline::model::Outline, textures::model::Textures};
use measure::Measure;
use selection::Selection;

/// State of the selection and of the views that inspect it.
#[derive(Debug, Default)]
pub(in crate::app) struct InspectState {
    /// The selected meshes.
    pub(in crate::app) selection: Selection,
    /// The scene tree.
    pub(in crate::app) outline: Outline,
    /// The measurement in progress.
    pub(in crate::app) measure: Measure,
    /// The texture viewer.
    pub(in crate::app) textures: Textures,
}
