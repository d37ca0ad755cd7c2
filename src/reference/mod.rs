//! CPU twins of the GPU's stages: plain functions over slices, as the specification for tests and benchmarks.

pub mod antialias;
pub mod compare;
pub mod deform;
pub mod environment;
pub mod exposure;
pub mod ground;
pub mod lbvh;
pub mod light_area;
pub mod light_choice;
pub mod lighting;
pub mod motion;
pub mod occlusion;
pub mod overlay;
pub mod ploc;
pub mod queries;
pub mod ray_path;
pub mod reflections;
pub mod sampling;
pub mod shadow_motion;
pub mod shadow_start;
pub mod signal;
pub mod temporal;
pub mod tonemap;
pub mod trace;
pub mod tree_boxes;
pub mod walk;
