//! Lights, and the passes that turn the G-buffer into radiance.

pub mod blend;
pub mod blend_gbuffer;
pub mod layers;
pub mod lighting;
pub mod lights;
