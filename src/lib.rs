//! canopy, the program: a viewer and a command line over a deferred renderer that rebuilds its trees on the GPU in
//! every frame. The parts are packages:
//!
//! ```text
//! canopy ─► canopy-lab ─► canopy-render ─► canopy-scene, canopy-bvh
//! canopy ─► canopy-reference ─► the layouts of canopy-lab and canopy-render, canopy-scene, canopy-bvh
//! ```
//!
//! * canopy-bvh ([`accel`], [`gpu`]): trees over triangles in GPU memory, and the GPU core. It knows no scene.
//! * canopy-scene ([`scene`]): scenes on the CPU, and their files. It knows no wgpu.
//! * canopy-render ([`render`]): the passes and the frame, whose documentation begins there.
//! * canopy-lab ([`lab`]): rays in other ways, to compare with. The renderer knows it as a guest.
//! * canopy-reference ([`mod@reference`]): CPU twins.
//!
//! Within the program, each may also name those further to the right:
//!
//! ```text
//! app, cli ─► provenance, profile ─► output ─► config, device ─► error, atomic_file
//! ```
//!
//! Nothing but the binary names [`app`], which alone knows winit and egui. `tests/layers.rs` holds that.
//!
//! Each package owns its settings; [`config`] lays them together as `config.toml`. Fallible functions return
//! [`Error`], a line for the person who has to act.

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
