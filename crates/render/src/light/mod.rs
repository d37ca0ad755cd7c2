//! Lights, and the passes that shade surfaces.

pub mod blend;
pub mod layers;
pub mod lighting;
pub mod lights;
pub mod scene_exposure;
