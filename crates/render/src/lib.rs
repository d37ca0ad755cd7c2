//! A real-time deferred renderer. Every frame it deforms the animated parts of the scene into one world-space
//! vertex buffer. It then rebuilds, on the GPU, an LBVH over every mesh that has changed. Compute passes
//! trace rays through these BVHs for shadows, ambient occlusion and reflections. It needs compute shaders and
//! no ray-tracing hardware.
//!
//! `examples/own_window.rs` draws a scene in a window of your own, from its first frame
//! ([`FrameInput::first`]).
//!
//! # The frame, in order
//!
//! [`Renderer::record`] ends in one function, `Passes::frame`, in which every dependency between passes is a
//! local variable. [`resources`] declares the resources that passes share.
//!
//! 1. [`canopy_scene::load`] reads the files once. [`Pose::new`](canopy_scene::Pose::new) evaluates every
//!    node matrix and every morph weight at a time. [`frame`] determines the origin, the sun and the lights,
//!    and writes the uniforms.
//! 2. [`environment`], when the file, the sky or its sun changes: a cube map of radiance (`equirect`, `sky`),
//!    its mip levels (`cube_mips`), spherical harmonics for diffuse surfaces (`project_sh`) and a prefiltered
//!    cube for glossy ones (`prefilter`). `brdf_table` runs once.
//! 3. [`geometry::deform`]: morph targets, then skinning or the node transform, for every vertex, into the
//!    merged buffers (world space).
//! 4. [`geometry::trees`]: [`canopy_bvh::accel::lbvh`] builds a BVH per mesh and a TLAS over the meshes, all
//!    in one batch, or refits them, as [`geometry::tree_policy`] decides. [`canopy_bvh::accel::cost`]
//!    measures how refitted BVHs degrade.
//! 5. [`raster::gbuffer`]: position, normal, albedo, material, emission and triangle of each pixel's surface.
//!    [`raster::points_lines`]: points and lines on top, which cast no rays. [`raster::ground`]: a ground
//!    plane below the scene that receives shadows. [`history::motion`], on request: motion vectors.
//! 6. [`history`], if anything is stochastically sampled: `reproject` finds each surface in the last frame.
//!    [`history::denoiser`] averages over frames and neighbours with it.
//! 7. [`shadows`]: with many lights, [`shadows::light_choice`] chooses some for each pixel.
//!    [`shadows::shadow_shafts`] finds the tiles and lights between which anything has moved.
//!    [`shadows::shadow_classify`] lists the shadow rays that have to be traced, and [`shadows::shadow_rays`]
//!    traces them to a visible fraction per pixel and light. [`shadows::shadow_motion`] reprojects moving
//!    shadows, and [`shadows::shadow_filter`] denoises. For comparison, [`shadows::shadow_map`] draws shadow
//!    maps instead.
//! 8. [`ambient::occlusion`], on request: [`ambient::occlusion_rays`] samples ambient visibility and
//!    [`ambient::occlusion_filter`] denoises it. [`ambient::bounced_light`] lights the hits of these rays and
//!    [`ambient::bounced_filter`] denoises the result. With all bounces, [`gi::bounced_paths`] follows the rays
//!    in still pictures, and [`gi::bounced_cells`] reads the world cache of [`gi::cells`] in others. [`fog`], on request: visibility of the lights in a
//!    grid of froxels, which is averaged over frames and integrated along the view rays.
//! 9. [`reflections`], on request: [`reflections::lobes`] draws the lobes of layered surfaces. Then, for each
//!    bounce, [`reflections::reflection_classify`] lists the pixels that cast rays,
//!    [`reflections::reflection_rays`] traces them, and [`reflections::reflection_sort`] sorts the hits by
//!    material. [`reflections::reflection_surface`] turns the hits into a G-buffer,
//!    [`reflections::reflection_lobes`] adds the lobes of layers, and [`reflections::reflection_ambient`]
//!    traces ambient occlusion at the hits. [`reflections::reflection_light`] shades them, and
//!    [`reflections::reflection_layers`] shades layered materials. Last, [`reflections::reflection_filter`]
//!    denoises.
//! 10. [`light::lighting`]: HDR radiance from the G-buffer, lights, environment and visibility.
//!     [`light::layers`]: surfaces with layers (clear coat, sheen, …), which `lighting` leaves out.
//!     [`volumes`], if there are any: before that, [`volumes::volume_shadow`] attenuates the lights that
//!     surfaces see. Afterwards, [`volumes::volume_light`] finds how much light arrives inside,
//!     [`volumes::volume_march`] ray-marches, and [`volumes::volume_compose`] composes the result over the
//!     picture.
//! 11. [`raster::blend_gbuffer`], if reflection rays are traced: G-buffer of the front-most blended surfaces,
//!     which cast rays too. [`light::blend`]: alpha-blended and transmissive surfaces, points and lines, back
//!     to front, seen through the volumes in front of them. [`present::depth_of_field`], on request: blur of
//!     a lens with an aperture.
//! 12. [`inspect::deviation`], on request: distance of the visible surfaces from the surface of another file.
//!     [`inspect::intersections`], on request: triangles that intersect other meshes. [`inspect::guest`], if
//!     there is one: the pass of another package, such as the laboratory's. [`inspect::channel`]: one channel
//!     of the frame as floats, for an AOV or a debug view.
//! 13. [`present`]: [`present::exposure`], or [`present::cost_range`] for the channel `cost`, then
//!     [`present::tonemap`], and [`present::antialias`] or [`present::temporal`]. A picture of several frames
//!     uses [`present::accumulate`], their mean, instead. [`present::overlay`] and [`present::tree_boxes`],
//!     on request: mesh lines and BVH boxes on top.
//!
//! With `image.mode = "path"`, [`paths`] traces light paths in place of steps 7 to 11.
//!
//! [`materials::mipmap`] runs when a scene is uploaded. Between frames, [`queries::pick`] finds what a click
//! hits, [`queries::outline`] draws an outline around it for the viewer, and [`queries::ray_path`] records
//! every traversal step of a ray. [`queries::walk`] moves the walking character, and [`queries::camera_arm`]
//! finds how far a camera may be from the point that it orbits. [`canopy_scene::edits`] override the content
//! of files, and [`Renderer::write_materials`] uploads them. [`present::compare`] shows the pictures of two
//! renderers in one.
//!
//! # Conventions
//!
//! The conventions are glTF's: right-handed, +Y up, metres, radians, colours linear unless they say sRGB,
//! lights in lux and candela. Matrix names contain the target and source space, as in `world_from_view`.
//! Within a frame the world's origin is [`SceneBuffers::origin`]. Depth is reversed: 1 is near, 0 is far.
//!
//! A pass has the same name everywhere: in its source, its shader, its CPU reference in canopy-reference, its
//! labels and its profiler scope. Passes never refer to each other. This module connects them. [`settings`]
//! are plain structs.

pub mod ambient;
pub mod aov;
pub mod bindings;
pub mod environment;
#[cfg(test)]
mod example_pass;
pub mod fog;
mod formats;
pub mod frame;
pub mod geometry;
pub mod gi;
pub mod history;
pub mod inspect;
pub mod layout;
pub mod light;
pub mod materials;
pub mod paths;
pub mod present;
pub mod queries;
pub mod raster;
pub mod reflections;
pub mod renderer;
pub mod resources;
pub mod settings;
mod shaders;
pub mod shadows;
pub mod stats;
pub mod upload;
pub mod view;
pub mod volumes;
pub mod world;

pub use aov::Channel;
pub use canopy_bvh::accel::{MeshStatistics, TreeStatistics};
pub use frame::FrameInput;
pub use frame::frame_sample::FrameSample;
pub use materials::material_textures::SceneTexture;
pub use queries::geometry_copy::GeometryCopy;
pub use queries::outline::{OUTLINES, OutlineQuery};
pub use queries::pick::{Element, Picked};
pub use queries::ray_path::{PathStep, RayKind, RayPath, RayPathCopy};
pub use queries::texture_view::{DrawnTexture, TexelCopy, TextureView};
pub use queries::tree_copy::TreeCopy;
pub use renderer::Renderer;
pub use renderer::frames::Attempt;
pub use renderer::readback::{FloatImage, Merged};
pub use shaders::SHADERS;
pub use stats::{
    CellCounts, CostRange, FrameStats, IntersectionCounts, MeshPair, Noise, OverlayCounts, ReflectionCounts,
    TreeBoxCounts, TreeWork,
};
pub use upload::Uploader;
pub use upload::scene_buffers::SceneBuffers;
pub use upload::scene_state::{SceneState, UploadedScene};
pub use view::{PickQuery, View};

use ambient::occlusion::Occlusion;
use bindings::Layouts;
use canopy_bvh::{
    Result,
    gpu::{Gpu, lazy_pipeline::collect_later},
};
use environment::Environment;
use fog::Fog;
use frame::life_cycle::LifeCycle;
use frame::recording::Recording;
use frame::{Frame, FrameSetup, FrameUniforms, Integrator};
use geometry::deform::Deform;
use geometry::tree_policy::TreePlan;
use geometry::trees::TreePasses;
use history::History;
use history::motion::MotionPass;
use inspect::Inspect;
use light::blend::Blend;
use light::layers::LayersPass;
use light::lighting::Lighting;
use paths::{Paths, path_table::PathTable};
use present::Present;
use present::depth_of_field::DepthOfField;
use present::overlay::Overlay;
use present::tree_boxes::TreeBoxes;
use raster::blend_gbuffer::BlendGBuffer;
use raster::gbuffer::GBufferPass;
use raster::ground::GroundPass;
use raster::points_lines::PointsLines;
use reflections::Reflections;
use resources::{Incident, VisibleSurfaces};
use shadows::Shadows;
use volumes::Volumes;
use world::World;

/// Declares the passes of a frame. Each row has the name of a pass, its type, and the expression that creates
/// it. The names between the bars are available in these expressions. All of them implement [`LifeCycle`].
macro_rules! passes {
    (|$gpu:ident, $layouts:ident, $uploader:ident| $($name:ident: $pass:ty = $made:expr,)*) => {
        /// All passes of a frame.
        #[derive(Debug)]
        struct Passes {
            $($name: $pass,)*
        }

        impl Passes {
            /// Creates all passes. Their pipelines are compiled later.
            fn new($gpu: &Gpu, $uploader: &Uploader) -> Result<Self> {
                let $layouts = &$uploader.layouts;
                Ok(Self { $($name: $made,)* })
            }
        }

        impl LifeCycle for Passes {
            fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
                vec![$(&mut self.$name),*]
            }
        }
    };
}

passes! { |gpu, layouts, uploader|
    uniforms: FrameUniforms = FrameUniforms::new(gpu)?,
    announced: Announced = Announced::default(),
    environment: Environment = Environment::new(gpu)?,
    deform: Deform = Deform::new(gpu),
    trees: TreePasses = uploader.trees.clone(),
    gbuffer: GBufferPass = GBufferPass::new(gpu, layouts),
    points_lines: PointsLines = PointsLines::new(gpu, layouts),
    ground: GroundPass = GroundPass::new(gpu, layouts),
    motion: MotionPass = MotionPass::new(gpu, layouts),
    history: History = History::new(gpu, layouts),
    shadows: Shadows = Shadows::new(gpu, layouts)?,
    occlusion: Occlusion = Occlusion::new(gpu, layouts)?,
    fog: Fog = Fog::new(gpu, layouts),
    reflections: Reflections = Reflections::new(gpu, layouts)?,
    lighting: Lighting = Lighting::new(gpu, layouts),
    layers: LayersPass = LayersPass::new(gpu, layouts),
    volumes: Volumes = Volumes::new(gpu, layouts),
    path_table: PathTable = PathTable::new(gpu, layouts)?,
    paths: Paths = Paths::new(gpu, layouts)?,
    blend_gbuffer: BlendGBuffer = BlendGBuffer::new(gpu, layouts),
    blend: Blend = Blend::new(gpu, layouts),
    depth_of_field: DepthOfField = DepthOfField::new(gpu, layouts),
    inspect: Inspect = Inspect::new(gpu, layouts)?,
    present: Present = Present::new(gpu, layouts)?,
    tree_boxes: TreeBoxes = TreeBoxes::new(gpu, layouts),
    overlay: Overlay = Overlay::new(gpu, layouts),
}

/// Scene version and settings for which the pipelines of all surfaces and lights have been collected. A frame
/// with the same values does not collect them again.
#[derive(Debug, Default)]
struct Announced(Option<(u64, [bool; 3])>);

impl LifeCycle for Announced {}

impl Passes {
    /// Places the shadow maps of the lights, updates the environment, and writes the uniforms.
    fn prepare<'a>(
        &mut self,
        r: &mut Recording<'_>,
        mut prepared: FrameSetup<'a>,
        layouts: &Layouts,
        spreads: bool,
    ) -> Result<Frame<'a>> {
        let gpu = r.gpu;
        let shadow_maps = self.shadows.fit_maps(gpu, &mut prepared)?;
        let environment = self.environment.record(r, &prepared.config, spreads)?;
        self.uniforms
            .write(gpu, layouts, prepared, environment, shadow_maps)
    }

    /// Collects the pipelines for all surfaces and lights of a scene together, including those that are out
    /// of sight. Otherwise compiling would stall the frame in which one of them comes into view.
    fn add_pipelines(&mut self, frame: &Frame<'_>) {
        let is_hybrid = frame.integrator == Integrator::Hybrid;
        let settings = [frame.traces_reflections, frame.filters_shadows, is_hybrid];
        let of = Some((frame.buffers.version, settings));
        if std::mem::replace(&mut self.announced.0, of) == of {
            return;
        }
        collect_later(|set| {
            self.gbuffer.add_pipelines(frame, set);
            self.points_lines.add_pipelines(frame, set);
            self.shadows.add_pipelines(frame, set);
            if is_hybrid {
                self.layers.add_pipelines(frame, set);
                self.blend.add_pipelines(frame, set);
            }
        });
    }

    /// Records the passes of a frame. Each pass takes the outputs of earlier ones.
    fn frame(
        &mut self,
        r: &mut Recording<'_>,
        frame: &Frame<'_>,
        plan: &TreePlan,
        state: &mut SceneState,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        self.add_pipelines(frame);
        let (environment, shadows) = (&self.environment, &mut self.shadows);
        let last_positions = state.last_positions.keep(r, frame, plan)?;
        let geometry = self.deform.record(r, frame, plan)?;
        let (tree, policy) = (&mut state.tree, &mut state.policy);
        let trees = self.trees.record(r, geometry, tree, policy, plan)?;
        let world = World::new(frame, geometry, trees, plan, environment);
        let gbuffer = self.gbuffer.record(r, world)?;
        self.points_lines.record(r, world, gbuffer)?;
        self.ground.record(r, world, gbuffer)?;
        let motion = self.motion.record(r, world, gbuffer, last_positions)?;
        let history = self.history.record(r, world, gbuffer, motion)?;
        let seen = VisibleSurfaces {
            gbuffer,
            motion,
            history,
        };
        shadows.record(r, world, seen)?;
        self.path_table.record(r, world)?;
        let table = &self.path_table;
        let ambient = self.occlusion.record(r, world, seen, table)?;
        let fog = self.fog.record(r, world, gbuffer)?;
        self.reflections.record(r, world, seen, fog, shadows)?;
        let radiance = match &frame.integrator {
            Integrator::Paths { samples, added } => {
                self.paths.record(r, world, table, (samples.as_ref(), *added))?
            }
            Integrator::Hybrid => {
                let light = Incident::new(shadows.output(), ambient, self.reflections.output(), fog);
                self.volumes.shade(r, frame, gbuffer, light.visibility)?;
                let radiance = self.lighting.record(r, world, gbuffer, light)?;
                self.layers.record(r, world, gbuffer, light, radiance)?;
                let volumes = self.volumes.record(r, world, gbuffer, fog, radiance)?;
                let blended = self.blend_gbuffer.record(r, world, gbuffer)?;
                let reflections = &mut self.reflections;
                let reflected = reflections.record_blended(r, world, blended, fog, shadows)?;
                let (front, between) = ((blended, reflected), (fog, volumes));
                let blend = &self.blend;
                blend.record(r, world, gbuffer, front, between, radiance)?;
                radiance
            }
        };
        let radiance = self.depth_of_field.record(r, frame, gbuffer, radiance)?;
        let light = Incident::new(shadows.output(), ambient, self.reflections.output(), fog);
        let volumes = self.volumes.total();
        let inspect = &mut self.inspect;
        let shown = inspect.record(r, world, seen, (light, radiance), volumes)?;
        self.present.record(r, frame, seen, (radiance, shown), target)?;
        self.overlay.record(r, frame, gbuffer, target)?;
        self.tree_boxes.record(r, world, gbuffer, target)
    }
}
