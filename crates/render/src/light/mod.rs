//! Lights, and the passes that turn what is seen into radiance.

pub mod blend;
pub mod layers;
pub mod lighting;
pub mod lights;
pub mod scene_exposure;
