//! Queries between frames: picks, walks, outlines, ray traversals, textures, copies of geometry.

pub(super) mod answer;
pub mod camera_arm;
pub(super) mod copied;
pub(super) mod geometry_copy;
pub mod outline;
pub mod pick;
pub mod ray_path;
pub mod texture_view;
pub(super) mod tree_copy;
pub mod walk;
