//! All features of the viewer.

use super::feature::Feature;

/// All features, in the order in which they follow what has changed.
pub(super) const FEATURES: [&dyn Feature; 13] = [
    &super::files::scene::SceneFiles,
    &super::environment::task::EnvironmentFiles,
    &super::deviation::compared::ComparedSurface,
    &super::compare::task::Comparison,
    &super::edits::task::MaterialEdits,
    &super::export::task::Export,
    &super::camera::obstacles::Obstacles,
    &super::inspect::task::Picking,
    &super::deviation::task::Figures,
    &super::trees::task::TreeFigures,
    &super::lab::task::Laboratory,
    &super::textures::task::TexturePreview,
    &super::rays::task::RaySteps,
];
