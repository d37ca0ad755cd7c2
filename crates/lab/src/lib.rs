//! Laboratory of ray tracing. It combines triangle tests, traversals and acceleration structures over the
//! same triangles and rays, and compares hits with f64.
//!
//! A [`TriangleTest`] stores and intersects triangles, a [`Structure`] is built over them, and a [`Walk`]
//! traverses it. [`Kernels`] combines one test and one walk into shaders. Each test and each walk is one file
//! of `shaders/lab`, and any test can be combined with any walk. [`exact`] finds the hits of rays in f64 by
//! brute force.

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
pub use layout::{Layout, StructureData};
pub use made::BuiltStructure;
pub use shaders::SHADERS;
pub use structure::Structure;
pub use triangle_test::TriangleTest;
pub use view::{
    LabView,
    lab_scene::{LabBuild, LabGeometry, LabScene, LabStatistics},
    lab_show::LabCounts,
};
pub use walk::Walk;

/// Corners of a triangle in world space.
pub type Triangle = [glam::Vec3; 3];
