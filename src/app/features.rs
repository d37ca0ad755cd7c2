//! Registry of the viewer's features.

use super::feature::Feature;

/// All features, in the order of their [`Feature::follow`] calls.
pub(super) const FEATURES: [&dyn Feature; 13] = [
    &super::files::scene::LoadFeature,
    &super::environment::task::EnvironmentFeature,
    &super::deviation::compared::ComparedFeature,
    &super::compare::task::CompareFeature,
    &super::edits::task::EditFeature,
    &super::export::task::ExportFeature,
    &super::camera::obstacles::ObstacleFeature,
    &super::inspect::task::PickFeature,
    &super::deviation::task::DeviationFeature,
    &super::trees::task::TreeFeature,
    &super::lab::task::LabFeature,
    &super::textures::task::TextureFeature,
    &super::rays::task::RayFeature,
];
