//! canopy, the program: a viewer and a command line over a deferred renderer that rebuilds its BVHs on the
//! GPU every frame. It consists of these packages:
//!
//! ```text
//! canopy ─► canopy-lab ─► canopy-render ─► canopy-scene, canopy-bvh
//! canopy ─► canopy-reference ─► the layouts of canopy-lab and canopy-render, canopy-scene, canopy-bvh
//! ```
//!
//! * canopy-bvh ([`accel`], [`gpu`]): BVHs over triangles in GPU memory, and the GPU core. It does not know
//!   scenes.
//! * canopy-scene ([`scene`]): scenes on the CPU, and their files. It does not know wgpu.
//! * canopy-render ([`render`]): the passes and the frame. Its documentation is the place to start reading.
//! * canopy-lab ([`lab`]): other ways to trace rays, for comparison. The renderer runs its pass through
//!   `render::inspect::guest`.
//! * canopy-reference ([`mod@reference`]): CPU reference implementations of the shaders.
//!
//! Within the program, each module may use those to its right:
//!
//! ```text
//! app, cli ─► provenance, profile ─► output ─► config, device ─► error, atomic_file
//! ```
//!
//! Only the binary uses [`app`], the only module that knows winit and egui. `tests/layers.rs` checks this.
//!
//! Each package owns its settings, and [`config`] combines them into `config.toml`. Fallible functions return
//! [`Error`], a one-line message that tells the user what to do.

#[cfg(feature = "viewer")]
pub mod app;
pub mod atomic_file;
pub mod cli;
pub mod config;
pub mod device;
pub mod error;
pub mod output;
pub mod profile;
pub mod provenance;

pub use canopy_bvh::{self, accel, gpu};
pub use canopy_lab as lab;
pub use canopy_reference as reference;
pub use canopy_render as render;
pub use canopy_scene as scene;
pub use error::{Error, Result};
