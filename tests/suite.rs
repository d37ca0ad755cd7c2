//! The tests that need no window, in one binary, so that shared code is compiled and linked once.
//! `cargo test --test suite frame::` runs the tests of one file.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

mod accel;
mod antialias;
mod bench;
mod bounced_light;
mod cli;
mod compare;
mod cut_outs;
mod depth_of_field;
mod deviation;
mod docs;
mod drivers;
mod edits;
mod environment;
mod environment_cubes;
mod environment_files;
mod environment_sh;
mod environment_sky;
mod exposure;
mod farm;
mod fog;
mod frame;
mod gi;
mod ground;
mod hostile;
mod intersections;
#[cfg(target_os = "linux")]
mod isa;
mod lab;
mod layers;
mod lazy_pipeline;
mod licences;
mod lights;
mod material_toggles;
mod materials;
mod million;
mod motion;
mod noise;
mod objects;
mod occlusion;
mod overlay;
mod packaging;
mod paths;
mod pick;
mod points_lines;
mod profile;
mod queries;
mod ray_nodes;
mod reflections;
mod sampling;
mod scales;
mod scene;
mod shaders;
mod side_by_side;
mod signs;
mod soft_shadows;
mod temporal;
mod terminator;
mod texture_view;
mod textures;
mod tree_view;
mod volume_files;
mod volumes;
mod walk;
