//! Global illumination: light that bounces between the surfaces of the scene.

pub mod bounced_cells;
pub mod bounced_paths;
pub mod cells;
