//! A real-time deferred renderer: every frame it deforms the scene into one world-space vertex buffer, regrows an LBVH over every
//! mesh on the GPU, and traces shadow rays through those trees in a compute pass. It needs compute shaders and no ray-tracing hardware.
//!
//! # The frame, in order
//!
//! [`Renderer::record`](render::Renderer::record) is one function in which every edge between passes is a line.
//!
//! 1. [`scene::load`] reads files once; [`Pose::new`](scene::Pose::new) gives every node's matrix and every morph weight at a time.
//! 2. [`render::deform`]: morph targets, then skin or node, for every vertex, into the merged buffers (world space).
//! 3. [`accel::lbvh`]: `bounds`, `tlas`, `morton`, `sort`, `regroup`, then `leaves`, `pyramid`, `hierarchy` or `hierarchy_serial`: a tree over every mesh and one over
//!    the meshes, all in one batch. What of it a frame does is up to [`render::regrowth`]; [`accel::cost`] tells it how trees age.
//! 4. [`render::gbuffer`]: position, normal, albedo, material, emission and triangle of what each pixel sees; where a scene has any,
//!    [`render::points_lines`]: points and lines over them, from which no rays start.
//! 5. [`render::shadow_classify`]: the shadow rays that have to be sent, as a list; [`render::shadow_rays`]: those through the trees, to a bit
//!    of visibility per pixel and light; or, to compare with, [`render::shadow_map`]: depth of the merged scene as each light sees it.
//!    Where asked for, [`render::occlusion_rays`]: how much light arrives from everywhere, and [`render::occlusion_filter`]: that over the frames
//!    and over neighbouring pixels.
//! 6. [`render::lighting`]: G-buffer, lights, light from all around and visibility to HDR radiance.
//! 7. [`render::layers`]: surfaces with layers (clear coat, sheen, …), which that leaves out, where the G-buffer shows them; only where a scene
//!    has such materials.
//! 8. [`render::blend`]: alpha-blended and transmissive surfaces, points and lines over it, back to front, with shadows of the same kind.
//! 9. [`render::channel`]: one channel of the frame as floats, where an AOV or a debug view asks for it.
//! 10. [`render::exposure`]: how bright the picture is to be, where its own luminance says so.
//! 11. [`render::tonemap`]: radiance, or that channel, to the display.
//! 12. [`render::antialias`]: edges of the lit picture smoothed by their shape; or, of a picture of several samples, [`render::accumulate`]: their mean.
//!
//! [`render::mipmap`] runs when a scene is uploaded. When the light from all around changes, [`render::environment`] makes a cube of it (`equirect`,
//! `sky`), its levels (`cube_mips`), spherical harmonics for diffuse surfaces (`project_sh`) and what glossy surfaces mirror (`prefilter`);
//! `brdf_table` is made once.
//!
//! # The layers
//!
//! ```text
//! app, cli ─► render ─► accel ─► gpu        each may also name those further to the right
//! app, cli, render ─► scene                 data and loading: no wgpu
//! app, cli ─► output ─► render              files that leave the program
//! app, cli, tests ─► reference ─► scene, accel::layout, gpu::layout
//! ```
//!
//! [`error`] and [`config`] are below all of them. Nothing names [`app`], which alone knows winit and egui, but the binary. [`gpu`] knows no
//! pass, [`accel`] no scene and no renderer. Passes never name each other: they meet in [`render`]. `tests/layers.rs` holds all this.
//! A pass has one name everywhere: its source, its shader, its CPU twin in [`mod@reference`], its labels and its profiler scope.
//!
//! # Conventions
//!
//! glTF's: right-handed, +Y up, metres, radians, colours linear unless they say sRGB; lights in lux and candela. A matrix is named by its
//! spaces, `world_from_view`; within a frame the world's origin is [`SceneBuffers::origin`](render::SceneBuffers::origin). Depth is reversed: 1 is near, 0 is far. Fallible functions return [`Error`], a line for the person who has to act.
//!
//! # The tree alone
//!
//! [`accel`] takes any triangles that lie in GPU memory, on a wgpu device of the caller's. It and [`gpu`] are all that
//! `--no-default-features` builds; the feature `render` adds everything but [`cli`] and [`app`], which have features of
//! their own.

pub mod accel;
#[cfg(feature = "viewer")]
pub mod app;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "render")]
pub mod config;
pub mod error;
pub mod gpu;
#[cfg(feature = "render")]
pub mod output;
#[cfg(feature = "render")]
pub mod reference;
#[cfg(feature = "render")]
pub mod render;
#[cfg(feature = "render")]
pub mod scene;

pub use error::{Error, Result};
