//! Lights, and the passes that shade surfaces.

pub mod blend;
pub mod layers;
pub mod light_tree;
pub mod lighting;
pub mod lights;
pub mod scene_exposure;
