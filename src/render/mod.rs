//! The frame: `Passes::frame` is one function in which every edge between passes is a local.

pub mod accumulate;
mod alpha_table;
mod answer;
pub mod antialias;
pub mod aov;
mod bands;
pub mod bindings;
pub mod blend;
pub mod blend_gbuffer;
pub mod blue_noise;
pub mod bounced_filter;
pub mod bounced_light;
pub mod camera_arm;
pub mod channel;
pub mod compare;
pub mod compared_tree;
mod copied;
pub mod cost_range;
pub mod deform;
pub mod depth_of_field;
pub mod deviation;
pub mod draw_lists;
mod drawn;
pub mod edges;
pub mod environment;
pub mod exposure;
pub mod fog;
pub mod fog_history;
pub mod fog_integrate;
pub mod fog_light;
mod formats;
pub mod frame;
pub mod frame_sample;
mod frames;
mod frustum;
pub mod gbuffer;
mod geometry_copy;
pub mod ground;
pub mod history;
mod hit_dispatch;
pub mod hit_materials;
pub mod inspect;
pub mod intersections;
pub mod lab;
pub mod lab_rays;
pub mod lab_scene;
pub mod lab_show;
mod last_frame;
mod last_positions;
pub mod layers;
pub mod life_cycle;
pub mod light_choice;
pub mod lighting;
pub mod lights;
pub mod lobes;
pub mod material_textures;
mod material_uniforms;
pub mod materials;
mod merge;
pub mod mipmap;
pub mod motion;
pub mod noise;
pub mod occlusion;
pub mod occlusion_filter;
pub mod occlusion_rays;
pub(crate) mod options;
pub mod outline;
pub mod overlay;
pub mod path_stages;
pub mod path_sums;
mod path_table;
mod path_volumes;
pub mod paths;
pub mod pick;
pub mod points_lines;
pub mod present;
pub mod ray_list;
pub mod ray_path;
mod readback;
pub mod recording;
pub mod reflection_ambient;
pub mod reflection_bounces;
pub mod reflection_classify;
pub mod reflection_filter;
pub mod reflection_layers;
pub mod reflection_light;
pub mod reflection_list;
pub mod reflection_lobes;
pub mod reflection_rays;
pub mod reflection_sort;
pub mod reflection_surface;
pub mod reflections;
pub mod scene_buffers;
pub mod scene_state;
mod segments;
mod shaders;
pub mod shadow_classify;
mod shadow_edges;
pub mod shadow_filter;
pub mod shadow_map;
pub mod shadow_motion;
pub mod shadow_rays;
pub mod shadow_shafts;
pub mod shadows;
mod sheen;
pub mod shown;
pub mod signal;
mod sizes;
pub mod stats;
pub mod temporal;
pub mod texture_view;
pub mod tonemap;
pub mod tree_boxes;
mod tree_copy;
pub mod tree_policy;
pub mod trees;
pub mod upload;
mod version;
pub mod view;
pub mod volume_compose;
pub mod volume_grids;
pub mod volume_light;
pub mod volume_march;
pub mod volume_orders;
pub mod volume_params;
pub mod volume_places;
pub mod volume_shadow;
pub mod volumes;
pub mod walk;
mod world;

pub use crate::accel::{MeshFigures, TreeFigures};
pub use aov::Channel;
pub use frame::FrameInput;
pub use frame_sample::FrameSample;
pub use frames::Attempt;
pub use geometry_copy::GeometryCopy;
pub use lab_scene::{LabBuild, LabFigures, LabGeometry, LabScene};
pub use material_textures::SceneTexture;
pub use outline::{OUTLINES, OutlineQuery};
pub use pick::{Element, Picked};
pub use ray_path::{PathOf, PathStep, RayPath, RayPathCopy};
pub use readback::{FloatImage, Merged};
pub use scene_buffers::SceneBuffers;
pub use scene_state::{SceneState, UploadedScene};
pub use shaders::SHADERS;
pub use stats::{
    CostRange, FrameStats, IntersectionCounts, LabCounts, MeshPair, Noise, OverlayCounts,
    ReflectionCounts, TreeBoxCounts, TreeWork,
};
pub use texture_view::{ShownTexture, TexelCopy, TextureView};
pub use tree_copy::TreeCopy;
pub use upload::Uploader;
pub use view::{PickQuery, View};

use crate::{
    Result,
    config::Config,
    gpu::{Gpu, layout::ViewRays, on_demand::will_need, profiler::Profiler},
    lab::RayList,
    scene::{Scene, environment::EnvironmentImage},
};
use bands::FirstRows;
use bindings::Layouts;
use blend::Blend;
use blend_gbuffer::BlendGBuffer;
use camera_arm::CameraArm;
use compared_tree::ComparedTree;
use deform::Deform;
use depth_of_field::DepthOfField;
use edges::{Incident, Seen};
use environment::Environment;
use fog::Fog;
use frame::{Frame, FrameUniforms, Integrator, Prepared};
use gbuffer::GBufferPass;
use ground::GroundPass;
use history::History;
use inspect::Inspect;
use layers::LayersPass;
use life_cycle::LifeCycle;
use lighting::Lighting;
use motion::MotionPass;
use occlusion::Occlusion;
use outline::Outline;
use overlay::Overlay;
use path_sums::PathSums;
use paths::Paths;
use pick::Pick;
use points_lines::PointsLines;
use present::Present;
use ray_path::RayPathPass;
use recording::{FrameBudget, Part, Recording};
use reflections::Reflections;
use shadows::Shadows;
use std::{
    collections::{BTreeSet, VecDeque},
    ops::Range,
    sync::Arc,
};
use tree_boxes::TreeBoxes;
use tree_policy::TreePlan;
use trees::TreePasses;
use volumes::Volumes;
use walk::Walk;
use world::World;

/// The renderer: every pass, and what lives longer than a frame.
#[derive(Debug)]
pub struct Renderer {
    uploader: Arc<Uploader>,
    passes: Passes,
    first_rows: FirstRows,
    /// Walks of a person, between frames.
    pub walk: Walk,
    /// What holds up a camera that orbits, between frames.
    pub camera_arm: CameraArm,
    pick: Pick,
    ray_path: RayPathPass,
    outline: Outline,
    profiler: Profiler,
    /// How much work the GPU is given at once.
    pub budget: FrameBudget,
    /// Occlusion rays of each frame whose times have not come back.
    occlusion_rays: VecDeque<u64>,
    /// Pixels that the passes of the last frame lit, filtered or covered.
    recorded_pixels: u64,
    /// Samples of each pixel that a frame of paths adds.
    pub path_samples: u32,
    /// Which samples frames of paths add up, by their numbers; `None` is as many as the settings ask for.
    pub path_part: Option<Range<u32>>,
    /// Whether a new environment may be made over several frames where the adapter is slow. Meanwhile they
    /// show the one before.
    pub spreads_environment: bool,
    stats: FrameStats,
    /// What is left to submit of the last frame, in order.
    parts: VecDeque<Part>,
    /// The last frame, for reading its channels.
    last: Option<LastFrame>,
    /// The one before, while a frame is recorded.
    before: Option<LastFrame>,
    /// Whether a frame was dropped since the last one.
    has_dropped: bool,
    /// Frames that have been recorded of the same scene with the same settings, and these.
    frames: u32,
    frames_are_of: Option<(u64, [u32; 2], Config)>,
    /// Number of the last frame, by which its random numbers are chosen.
    sampled: u32,
    /// That number for the next frames, in place of their own: with it they have the noise of another renderer's frame.
    pub sampled_as: Option<u32>,
}

/// The passes of a frame.
#[derive(Debug)]
struct Passes {
    uniforms: FrameUniforms,
    environment: Environment,
    deform: Deform,
    trees: TreePasses,
    gbuffer: GBufferPass,
    points_lines: PointsLines,
    ground: GroundPass,
    motion: MotionPass,
    history: History,
    shadows: Shadows,
    occlusion: Occlusion,
    fog: Fog,
    reflections: Reflections,
    lighting: Lighting,
    layers: LayersPass,
    volumes: Volumes,
    paths: Paths,
    blend_gbuffer: BlendGBuffer,
    blend: Blend,
    depth_of_field: DepthOfField,
    inspect: Inspect,
    present: Present,
    tree_boxes: TreeBoxes,
    overlay: Overlay,
    /// Scene whose surfaces and lights have been announced, and the settings that decide which.
    announced: Option<(u64, [bool; 3])>,
}

/// What is kept of a frame.
#[derive(Debug)]
struct LastFrame {
    /// Group 0.
    group: wgpu::BindGroup,
    /// Through what it looked at in its pixels.
    rays: ViewRays,
    /// Pixels in a row, and rows.
    size: [u32; 2],
    /// Which frame of its picture it was.
    sample: FrameSample,
    /// Whether it was not made of paths.
    is_hybrid: bool,
}

impl Passes {
    /// All ready to be compiled.
    fn new(gpu: &Gpu, uploader: &Uploader) -> Result<Self> {
        let layouts = &uploader.layouts;
        Ok(Self {
            uniforms: FrameUniforms::new(gpu)?,
            environment: Environment::new(gpu)?,
            deform: Deform::new(gpu),
            trees: uploader.trees.clone(),
            gbuffer: GBufferPass::new(gpu, layouts),
            points_lines: PointsLines::new(gpu, layouts),
            ground: GroundPass::new(gpu, layouts),
            motion: MotionPass::new(gpu, layouts),
            history: History::new(gpu, layouts),
            shadows: Shadows::new(gpu, layouts)?,
            occlusion: Occlusion::new(gpu, layouts)?,
            fog: Fog::new(gpu, layouts),
            reflections: Reflections::new(gpu, layouts)?,
            lighting: Lighting::new(gpu, layouts),
            layers: LayersPass::new(gpu, layouts),
            volumes: Volumes::new(gpu, layouts),
            paths: Paths::new(gpu, layouts)?,
            blend_gbuffer: BlendGBuffer::new(gpu, layouts),
            blend: Blend::new(gpu, layouts),
            depth_of_field: DepthOfField::new(gpu, layouts),
            inspect: Inspect::new(gpu, layouts)?,
            present: Present::new(gpu, layouts)?,
            tree_boxes: TreeBoxes::new(gpu, layouts),
            overlay: Overlay::new(gpu, layouts),
            announced: None,
        })
    }

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
        if std::mem::replace(&mut self.announced, of) == of {
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
        let channel = inspect.record(r, world, seen, (light, radiance), volumes)?;
        self.present
            .record(r, frame, seen, (radiance, channel), target)?;
        self.overlay.record(r, frame, gbuffer, target)?;
        self.tree_boxes.record(r, world, gbuffer, target)
    }
}

impl LifeCycle for Passes {
    /// All passes that keep anything between frames, or count.
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![
            &mut self.environment,
            &mut self.motion,
            &mut self.history,
            &mut self.shadows,
            &mut self.occlusion,
            &mut self.fog,
            &mut self.reflections,
            &mut self.volumes,
            &mut self.paths,
            &mut self.inspect,
            &mut self.present,
            &mut self.overlay,
            &mut self.tree_boxes,
        ]
    }
}

impl Renderer {
    /// Every pass is compiled by the first frame that needs it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Self::beside(gpu, Arc::new(Uploader::new(gpu)))
    }

    /// As [`Renderer::new`], for scenes of the uploader of another renderer on the same device.
    pub fn beside(gpu: &Gpu, uploader: Arc<Uploader>) -> Result<Self> {
        let layouts = &uploader.layouts;
        Ok(Self {
            passes: Passes::new(gpu, &uploader)?,
            first_rows: FirstRows::new(gpu)?,
            walk: Walk::new(gpu, layouts),
            camera_arm: CameraArm::new(gpu),
            pick: Pick::new(gpu, layouts),
            ray_path: RayPathPass::new(gpu, layouts),
            outline: Outline::new(gpu, layouts),
            profiler: Profiler::new(gpu)?,
            budget: FrameBudget::default(),
            occlusion_rays: VecDeque::new(),
            recorded_pixels: 0,
            path_samples: 1,
            path_part: None,
            spreads_environment: false,
            stats: FrameStats::default(),
            parts: VecDeque::new(),
            last: None,
            before: None,
            has_dropped: false,
            frames: 0,
            frames_are_of: None,
            sampled: 0,
            sampled_as: None,
            uploader,
        })
    }

    /// What brings scenes into GPU memory, from any thread.
    pub fn uploader(&self) -> Arc<Uploader> {
        self.uploader.clone()
    }

    /// Writes what edits of `scene` have changed into what was uploaded of it: the values of these materials.
    /// They keep the textures that they have, and levels of textures stay those of the alpha mode at first.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Limit`] where the adapter has no room for the alpha that rays read.
    pub fn write_materials(
        &self,
        gpu: &Gpu,
        scene: &Scene,
        changed: &BTreeSet<usize>,
        uploaded: &mut UploadedScene,
    ) -> Result<()> {
        uploaded.write_materials(gpu, &self.uploader.layouts, scene, changed)
    }

    /// Replaces the image of the file that the configuration's environment names.
    pub fn set_environment(&mut self, gpu: &Gpu, image: Option<&EnvironmentImage>) -> Result<()> {
        self.passes.environment.set_file(gpu, image)
    }

    /// How many rays each path has gone on by, of the last sample that several kernels have followed: of the last band
    /// of pixels, in the order of tiles of 8 × 8. Waits for them.
    ///
    /// # Errors
    ///
    /// Those of reading back.
    pub fn read_path_lengths(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        self.passes.paths.lengths(gpu)
    }

    /// The next frame, which is made of paths and has the size of `sums`, goes on from these sums of its
    /// first samples.
    pub fn restore_paths(&mut self, gpu: &Gpu, sums: &PathSums, samples: u32) -> Result<()> {
        self.passes.paths.restore(gpu, sums, samples)
    }

    /// Begins the picture of paths anew, as after a change of their shaders.
    pub fn restart_paths(&mut self) {
        self.passes.paths.restart();
    }

    /// Replaces the surface that the channel `deviation` measures from.
    pub fn set_compared(&mut self, compared: Option<Arc<ComparedTree>>) {
        self.passes.inspect.deviation.set(compared);
    }

    /// Replaces the structure that the channel `lab` traces through.
    pub fn set_lab(&mut self, scene: Option<Arc<LabScene>>) {
        self.passes.inspect.lab.set(scene);
    }

    /// The structure that the channel `lab` traces through.
    pub fn lab(&self) -> Option<&Arc<LabScene>> {
        self.passes.inspect.lab.scene()
    }

    /// The rays of the channel `lab` of the last frame, and what they found.
    pub fn lab_rays(&self) -> Option<&RayList> {
        self.passes.inspect.lab.list()
    }

    /// The surface that the channel `deviation` measures from.
    pub fn compared(&self) -> Option<&Arc<ComparedTree>> {
        self.passes.inspect.deviation.compared()
    }

    /// Whether the environment is not yet what the last frame asked for.
    pub fn environment_is_pending(&self) -> bool {
        self.passes.environment.is_pending()
    }
}
