//! A real-time deferred renderer. Every frame it deforms what moves of the scene into one world-space vertex
//! buffer, rebuilds an LBVH over every mesh that has changed on the GPU, and traces shadow rays through those
//! trees in a compute pass. It needs compute shaders and no ray-tracing hardware.
//!
//! # The frame, in order
//!
//! [`Renderer::record`](render::Renderer::record) ends in one function, in which every edge between passes is a
//! local. [`render::edges`] declares what passes hand each other.
//!
//! 1. [`scene::load`] reads files once; [`Pose::new`](scene::Pose::new) gives every node's matrix and every
//!    morph weight at a time. [`render::frame`] settles origin, sun and lights, and writes the uniforms.
//! 2. [`render::environment`], when the file, the sky or its sun changes: a cube of radiance (`equirect`,
//!    `sky`), its levels (`cube_mips`), spherical harmonics for diffuse surfaces (`project_sh`) and a
//!    prefiltered cube for glossy ones (`prefilter`); `brdf_table` once.
//! 3. [`render::geometry::deform`]: morph targets, then skin or node, for every vertex, into the merged
//!    buffers (world space).
//! 4. [`render::geometry::trees`]: [`accel::lbvh`] builds a tree over every mesh and one over the meshes, all
//!    in one batch, or fits their boxes again, as [`render::geometry::tree_policy`] plans it; [`accel::cost`]
//!    measures how trees age.
//! 5. [`render::raster::gbuffer`]: position, normal, albedo, material, emission and triangle of what each
//!    pixel sees; [`render::raster::points_lines`]: points and lines over them, from which no rays start;
//!    [`render::raster::ground`]: a plane below the scene, for its shadows; [`render::history::motion`], where
//!    asked for: where that was in the last frame.
//! 6. [`render::history`], where something is sampled: where the last frame saw each surface (`reproject`);
//!    [`render::history::signal`] averages over frames and neighbours by it.
//! 7. [`render::shadows`]: where there are many lights, [`render::shadows::light_choice`] chooses some for
//!    each pixel; [`render::shadows::shadow_shafts`] finds between which surfaces and lights anything has
//!    moved; [`render::shadows::shadow_classify`] lists the shadow rays that have to be traced,
//!    [`render::shadows::shadow_rays`] traces them, to a visible share per pixel and light,
//!    [`render::shadows::shadow_motion`] finds where shadows that move were in the last frame, and
//!    [`render::shadows::shadow_filter`] averages; or, to compare with, [`render::shadows::shadow_map`] draws
//!    the depth that each light sees.
//! 8. [`render::ambient::occlusion`], where asked for: [`render::ambient::occlusion_rays`] samples ambient
//!    visibility and [`render::ambient::occlusion_filter`] averages it; [`render::ambient::bounced_light`]
//!    lights what these rays hit and [`render::ambient::bounced_filter`] averages that.
//! 9. [`render::reflections`], where asked for: [`render::reflections::lobes`] draws what layered surfaces
//!    reflect and transmit by. Then, bounce after bounce: [`render::reflections::reflection_classify`] lists
//!    the pixels that send rays, [`render::reflections::reflection_rays`] traces them,
//!    [`render::reflections::reflection_sort`] sorts what they hit by material,
//!    [`render::reflections::reflection_surface`] makes it a G-buffer,
//!    [`render::reflections::reflection_lobes`] adds the lobes of layers,
//!    [`render::reflections::reflection_ambient`] finds how occluded the hits are,
//!    [`render::reflections::reflection_light`] and, of layered materials,
//!    [`render::reflections::reflection_layers`] light that; then [`render::reflections::reflection_filter`]
//!    averages.
//! 10. [`render::light::lighting`]: G-buffer, lights, environment and visibility to HDR radiance;
//!     [`render::light::layers`]: surfaces with layers (clear coat, sheen, …), which that leaves out.
//!     [`render::volumes`], where there are any: before that, [`render::volumes::volume_shadow`] dims what
//!     surfaces see of lights; then [`render::volumes::volume_light`] finds how much light arrives within,
//!     [`render::volumes::volume_march`] what the eye sees of it, and [`render::volumes::volume_compose`]
//!     lays that over the picture.
//! 11. [`render::raster::blend_gbuffer`], where reflection rays are traced: the front-most blended surfaces,
//!     which send them too. [`render::light::blend`]: alpha-blended and transmissive surfaces, points and
//!     lines over it, back to front, seen through the volumes in front of them.
//!     [`render::present::depth_of_field`], where asked for: that picture as a lens with an aperture sees it.
//! 12. [`render::inspect::deviation`], where asked for: how far what is seen is from the surface of another
//!     file. [`render::inspect::intersections`], where asked for: which triangles pass through those of other
//!     meshes. [`render::inspect::lab`], where asked for: rays through a structure of the laboratory, made by
//!     [`render::inspect::lab_rays`] and shown by [`render::inspect::lab_show`].
//!     [`render::inspect::channel`]: one channel of the frame as floats, for an AOV or a debug view.
//! 13. [`render::present`]: [`render::present::exposure`], or of the channel `cost`
//!     [`render::present::cost_range`], then [`render::present::tonemap`], and [`render::present::antialias`]
//!     or [`render::present::temporal`]; or, of a picture of several frames, [`render::present::accumulate`]:
//!     their mean. [`render::present::overlay`] and [`render::present::tree_boxes`], where asked for: lines
//!     of the meshes and boxes of the trees over it.
//!
//! With `image.mode = "path"`, [`render::paths`] traces paths of light in place of steps 7 to 11.
//!
//! [`render::materials::mipmap`] runs when a scene is uploaded. Between frames, [`render::queries::pick`]
//! finds what a click hits in the trees, [`render::queries::outline`] draws a line around it for the viewer,
//! and [`render::queries::ray_path`] writes down every step of a ray; [`render::queries::walk`] tells where a
//! person goes, and [`render::queries::camera_arm`] how far a camera may be from what it orbits.
//! [`render::inspect::volume_orders`] marches rays of the laboratory through volumes, front to back and back
//! to front. [`scene::edits`] lie over what the files say, and
//! [`Renderer::write_materials`](render::Renderer::write_materials) writes them. [`render::present::compare`]
//! shows the pictures of two renderers in one.
//!
//! # The layers
//!
//! ```text
//! app, cli ─► render ─► lab ─► accel, gpu    each may also name those further to the right
//! app, cli, render ─► scene                 data and loading: no wgpu
//! app, cli ─► output ─► render, scene       files and text that leave the program
//! app, cli ─► profile ─► gpu, output        what frames took
//! app, cli ─► provenance ─► output, scene   how a picture was made
//! cli, render ─► lab ─► accel, gpu, scene   rays in other ways, to compare with
//! cli::bench, lab, selftest, tests ─► reference ─► scene, layouts of accel, lab and render
//! ```
//!
//! [`error`], [`atomic_file`] and [`config`] are below all of them. Nothing names [`app`], which alone knows
//! winit and egui, but the binary. Passes never name each other: they meet in [`render`]. `tests/layers.rs`
//! holds all this. A pass has one name everywhere: its source, its shader, its CPU twin in [`mod@reference`],
//! its labels and its profiler scope.
//!
//! # Conventions
//!
//! glTF's: right-handed, +Y up, metres, radians, colours linear unless they say sRGB; lights in lux and
//! candela. A matrix is named by its spaces, `world_from_view`; within a frame the world's origin is
//! [`SceneBuffers::origin`](render::SceneBuffers::origin). Depth is reversed: 1 is near, 0 is far. Fallible
//! functions return [`Error`], a line for the person who has to act.
//!
//! # The tree alone
//!
//! [`accel`] and [`gpu`] are the package `canopy-bvh`, which takes any triangles that lie in GPU memory, on a wgpu device
//! of the caller's.

#[cfg(feature = "viewer")]
pub mod app;
pub mod atomic_file;
pub mod cli;
pub mod config;
pub mod device;
pub mod error;
pub mod lab;
pub mod output;
pub mod profile;
pub mod provenance;
pub mod reference;
pub mod render;

pub use canopy_bvh::{self, accel, gpu};
pub use canopy_scene as scene;
pub use error::{Error, Result};
