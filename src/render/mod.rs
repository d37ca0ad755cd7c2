//! The frame: `Passes::frame` is one function in which every edge between passes is a local.

pub mod ambient;
pub mod aov;
pub mod bindings;
pub mod edges;
pub mod environment;
#[cfg(test)]
mod example_pass;
pub mod fog;
mod formats;
pub mod frame;
pub mod geometry;
pub mod history;
pub mod inspect;
pub mod layout;
pub mod light;
pub mod materials;
pub(crate) mod options;
pub mod paths;
pub mod present;
pub mod queries;
pub mod raster;
pub mod reflections;
pub mod renderer;
mod shaders;
pub mod shadows;
pub mod stats;
pub mod upload;
pub mod view;
pub mod volumes;
pub mod world;

pub use aov::Channel;
pub use canopy_bvh::accel::{MeshFigures, TreeFigures};
pub use frame::FrameInput;
pub use frame::frame_sample::FrameSample;
pub use materials::material_textures::SceneTexture;
pub use queries::geometry_copy::GeometryCopy;
pub use queries::outline::{OUTLINES, OutlineQuery};
pub use queries::pick::{Element, Picked};
pub use queries::ray_path::{PathOf, PathStep, RayPath, RayPathCopy};
pub use queries::texture_view::{ShownTexture, TexelCopy, TextureView};
pub use queries::tree_copy::TreeCopy;
pub use renderer::Renderer;
pub use renderer::frames::Attempt;
pub use renderer::readback::{FloatImage, Merged};
pub use shaders::SHADERS;
pub use stats::{
    CostRange, FrameStats, IntersectionCounts, MeshPair, Noise, OverlayCounts, ReflectionCounts,
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
    gpu::{Gpu, on_demand::will_need},
};
use edges::{Incident, Seen};
use environment::Environment;
use fog::Fog;
use frame::life_cycle::LifeCycle;
use frame::recording::Recording;
use frame::{Frame, FrameUniforms, Integrator, Prepared};
use geometry::deform::Deform;
use geometry::tree_policy::TreePlan;
use geometry::trees::TreePasses;
use history::History;
use history::motion::MotionPass;
use inspect::Inspect;
use light::blend::Blend;
use light::layers::LayersPass;
use light::lighting::Lighting;
use paths::Paths;
use present::Present;
use present::depth_of_field::DepthOfField;
use present::overlay::Overlay;
use present::tree_boxes::TreeBoxes;
use raster::blend_gbuffer::BlendGBuffer;
use raster::gbuffer::GBufferPass;
use raster::ground::GroundPass;
use raster::points_lines::PointsLines;
use reflections::Reflections;
use shadows::Shadows;
use volumes::Volumes;
use world::World;

/// Declares the passes of a frame: a row has a pass, its type, and the expression that makes it from the names in front of
/// the rows. All of them take the steps of [`LifeCycle`].
macro_rules! passes {
    (|$gpu:ident, $layouts:ident, $uploader:ident| $($name:ident: $pass:ty = $made:expr,)*) => {
        /// The passes of a frame.
        #[derive(Debug)]
        struct Passes {
            $($name: $pass,)*
        }

        impl Passes {
            /// All ready to be compiled.
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
    paths: Paths = Paths::new(gpu, layouts)?,
    blend_gbuffer: BlendGBuffer = BlendGBuffer::new(gpu, layouts),
    blend: Blend = Blend::new(gpu, layouts),
    depth_of_field: DepthOfField = DepthOfField::new(gpu, layouts),
    inspect: Inspect = Inspect::new(gpu, layouts)?,
    present: Present = Present::new(gpu, layouts)?,
    tree_boxes: TreeBoxes = TreeBoxes::new(gpu, layouts),
    overlay: Overlay = Overlay::new(gpu, layouts),
}

/// Scene whose surfaces and lights have been announced, and the settings that decide which.
#[derive(Debug, Default)]
struct Announced(Option<(u64, [bool; 3])>);

impl LifeCycle for Announced {}

impl Passes {
    /// Settles the lights and their maps, makes the environment, and writes the uniforms.
    fn prepare<'a>(
        &mut self,
        r: &mut Recording<'_>,
        mut prepared: Prepared<'a>,
        layouts: &Layouts,
        spreads: bool,
    ) -> Result<Frame<'a>> {
        let gpu = r.gpu;
        let shadow_maps = self.shadows.fit_maps(gpu, &mut prepared)?;
        let environment = self.environment.record(r, &prepared.config, spreads)?;
        self.uniforms
            .write(gpu, layouts, prepared, environment, shadow_maps)
    }

    /// Has the surfaces and lights of a scene collected together, also those that are out of sight: one that comes into view
    /// must not hold up the picture.
    fn announce(&mut self, frame: &Frame<'_>) {
        let is_hybrid = frame.integrator == Integrator::Hybrid;
        let settings = [frame.traces_reflections, frame.filters_shadows, is_hybrid];
        let of = Some((frame.buffers.version, settings));
        if std::mem::replace(&mut self.announced.0, of) == of {
            return;
        }
        will_need(|needs| {
            self.gbuffer.announce(frame, needs);
            self.points_lines.announce(frame, needs);
            self.shadows.announce(frame, needs);
            if is_hybrid {
                self.layers.announce(frame, needs);
                self.blend.announce(frame, needs);
            }
        });
    }

    /// Records the passes of a frame. Each takes what earlier ones have made.
    fn frame(
        &mut self,
        r: &mut Recording<'_>,
        frame: &Frame<'_>,
        plan: &TreePlan,
        state: &mut SceneState,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        self.announce(frame);
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
        let seen = Seen {
            gbuffer,
            motion,
            history,
        };
        shadows.record(r, world, seen)?;
        let ambient = self.occlusion.record(r, world, seen)?;
        let air = self.fog.record(r, world, gbuffer)?;
        self.reflections.record(r, world, seen, air, shadows)?;
        let radiance = match &frame.integrator {
            Integrator::Paths { part, added } => {
                self.paths.record(r, world, (part.as_ref(), *added))?
            }
            Integrator::Hybrid => {
                let light =
                    Incident::new(shadows.output(), ambient, self.reflections.output(), air);
                self.volumes.shade(r, frame, gbuffer, light.visibility)?;
                let radiance = self.lighting.record(r, world, gbuffer, light)?;
                self.layers.record(r, world, gbuffer, light, radiance)?;
                let volumes = self.volumes.record(r, world, gbuffer, air, radiance)?;
                let blended = self.blend_gbuffer.record(r, world, gbuffer)?;
                let reflections = &mut self.reflections;
                let reflected = reflections.record_blended(r, world, blended, air, shadows)?;
                let (front, between) = ((blended, reflected), (air, volumes));
                let blend = &self.blend;
                blend.record(r, world, gbuffer, front, between, radiance)?;
                radiance
            }
        };
        let radiance = self.depth_of_field.record(r, frame, gbuffer, radiance)?;
        let light = Incident::new(shadows.output(), ambient, self.reflections.output(), air);
        let volumes = self.volumes.total();
        let inspect = &mut self.inspect;
        let shown = inspect.record(r, world, seen, (light, radiance), volumes)?;
        self.present
            .record(r, frame, seen, (radiance, shown), target)?;
        self.overlay.record(r, frame, gbuffer, target)?;
        self.tree_boxes.record(r, world, gbuffer, target)
    }
}
