//! The laboratory of ray tracing: triangle tests, walks and structures over the same triangles and rays, in
//! all combinations that make sense, with hits that are compared with f64.
//!
//! A [`TriangleTest`] says how triangles are stored and hit, a [`Structure`] what is built over them, and a
//! [`Walk`] how rays go through that. [`Kernels`] joins one test and one walk into shaders: each is one file
//! of `shaders/lab`, and any two fit together. [`exact`] finds what rays hit in f64, by every triangle.

pub mod binary_tree;
pub mod data;
pub mod exact;
pub mod grid;
pub mod grid_build;
pub mod kd_tree;
pub mod kernels;
pub mod layout;
pub mod made;
pub mod ray_file;
pub mod ray_order;
pub mod sah_tree;
pub mod settings;
pub mod shaders;
pub mod structure;
pub mod triangle_test;
pub mod view;
pub mod volume_orders;
pub mod walk;

pub use kernels::{Kernels, RayList, Uploaded};
pub use layout::{Built, Layout};
pub use made::Made;
pub use shaders::SHADERS;
pub use structure::Structure;
pub use triangle_test::TriangleTest;
pub use view::{
    LabView,
    lab_scene::{LabBuild, LabFigures, LabGeometry, LabScene},
    lab_show::LabCounts,
};
pub use walk::Walk;

/// The corners of a triangle, in world space.
pub type Triangle = [glam::Vec3; 3];
