//! The frame: [`Renderer::record`] is one function in which every edge between passes is a local.

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
mod frustum;
pub mod gbuffer;
mod geometry_copy;
pub mod ground;
pub mod history;
mod hit_dispatch;
pub mod hit_materials;
pub mod intersections;
pub mod lab;
pub mod lab_rays;
pub mod lab_scene;
pub mod lab_show;
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
pub use cost_range::CostRange;
pub use frame::FrameInput;
pub use frame_sample::FrameSample;
pub use geometry_copy::GeometryCopy;
pub use intersections::{IntersectionCounts, MeshPair};
pub use lab_scene::{LabBuild, LabFigures, LabGeometry, LabScene};
pub use lab_show::LabCounts;
pub use material_textures::SceneTexture;
pub use noise::Noise;
pub use outline::{OUTLINES, OutlineQuery};
pub use overlay::OverlayCounts;
pub use pick::{Element, Picked};
pub use ray_path::{PathOf, PathStep, RayPath, RayPathCopy};
pub use readback::{FloatImage, Merged};
pub use scene_buffers::SceneBuffers;
pub use scene_state::{SceneState, UploadedScene};
pub use shaders::SHADERS;
pub use stats::{FrameStats, ReflectionCounts};
pub use texture_view::{ShownTexture, TexelCopy, TextureView};
pub use tree_boxes::TreeBoxCounts;
pub use tree_copy::TreeCopy;
pub use tree_policy::TreeWork;
pub use upload::Uploader;
pub use view::{PickQuery, View};

use crate::{
    Result,
    config::{self, CameraMode, Config},
    gpu::{
        Gpu, Needs, image,
        layout::{TreeBox, ViewRays},
        on_demand::collect,
        profiler::{Profiler, TimedFrame},
    },
    lab::RayList,
    scene::{Scene, environment::EnvironmentImage},
};
use bands::FirstRows;
use blend::Blend;
use blend_gbuffer::BlendGBuffer;
use camera_arm::CameraArm;
use channel::{ChannelPass, ChannelSource};
use compared_tree::ComparedTree;
use deform::Deform;
use depth_of_field::DepthOfField;
use deviation::Deviation;
use edges::{Incident, Seen};
use environment::Environment;
use fog::Fog;
use frame::{FrameUniforms, Prepared};
use gbuffer::GBufferPass;
use ground::GroundPass;
use history::History;
use intersections::Intersections;
use lab::Lab;
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
use present::{Present, PresentSource};
use ray_path::RayPathPass;
use recording::{FRAME_SCOPE, FrameBudget, Part, Recording, Traced};
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
    uniforms: FrameUniforms,
    first_rows: FirstRows,
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
    deviation: Deviation,
    intersections: Intersections,
    lab: Lab,
    channel: ChannelPass,
    present: Present,
    tree_boxes: TreeBoxes,
    overlay: Overlay,
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
    /// Frames that have been recorded of the same scene with the same settings, and these.
    frames: u32,
    frames_are_of: Option<(u64, [u32; 2], Config)>,
    /// Number of the last frame, by which its random numbers are chosen.
    sampled: u32,
    /// That number for the next frames, in place of their own: with it they have the noise of another renderer's frame.
    pub sampled_as: Option<u32>,
}

/// What came of recording a frame without compiling.
#[derive(Debug)]
pub enum Attempt {
    /// The frame; the encoder holds its last part, for [`Renderer::finish`].
    Whole(wgpu::CommandEncoder),
    /// Nothing, because these have to be compiled before.
    Missing(Needs),
}

/// A frame that has been recorded.
#[derive(Debug)]
struct DrawnFrame {
    last: LastFrame,
    /// Frames before of the same scene with the same settings.
    number: u32,
    sampled: u32,
    /// Scene, size and settings of the first frame with these.
    begins: Option<(u64, [u32; 2], Config)>,
    /// All parts but the last.
    parts: Vec<Part>,
    cpu_record_ms: f64,
    /// Pixels that passes lit, filtered or covered.
    pixels: u64,
    occlusion_rays: u64,
    lights: u32,
    traces_reflections: bool,
    /// `None` where the picture's histogram settles it.
    exposure_ev: Option<f32>,
    plan: TreePlan,
}

/// What is kept of a frame.
#[derive(Debug)]
struct LastFrame {
    /// Group 0.
    group: wgpu::BindGroup,
    /// Through what it looked at in its pixels.
    rays: ViewRays,
    /// Which frame of its picture it was.
    sample: FrameSample,
    /// Whether it was not made of paths.
    is_fast: bool,
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
            uniforms: FrameUniforms::new(gpu)?,
            first_rows: FirstRows::new(gpu)?,
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
            deviation: Deviation::new(gpu),
            intersections: Intersections::new(gpu)?,
            lab: Lab::new(gpu, layouts),
            channel: ChannelPass::new(gpu, layouts),
            present: Present::new(gpu, layouts)?,
            tree_boxes: TreeBoxes::new(gpu, layouts),
            overlay: Overlay::new(gpu, layouts),
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
        self.environment.set_file(gpu, image)
    }

    /// How many rays each path has gone on by, of the last sample that several kernels have followed: of the last band
    /// of pixels, in the order of tiles of 8 × 8. Waits for them.
    ///
    /// # Errors
    ///
    /// Those of reading back.
    pub fn read_path_lengths(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        self.paths.lengths(gpu)
    }

    /// The next frame, which is made of paths and has the size of `sums`, goes on from these sums of its
    /// first samples.
    pub fn restore_paths(&mut self, gpu: &Gpu, sums: &PathSums, samples: u32) -> Result<()> {
        self.paths.restore(gpu, sums, samples)
    }

    /// Begins the picture of paths anew, as after a change of their shaders.
    pub fn restart_paths(&mut self) {
        self.paths.restart();
    }

    /// Replaces the surface that the channel `deviation` measures from.
    pub fn set_compared(&mut self, compared: Option<Arc<ComparedTree>>) {
        self.deviation.set(compared);
    }

    /// Replaces the structure that the channel `lab` traces through.
    pub fn set_lab(&mut self, scene: Option<Arc<LabScene>>) {
        self.lab.set(scene);
    }

    /// The structure that the channel `lab` traces through.
    pub fn lab(&self) -> Option<&Arc<LabScene>> {
        self.lab.scene()
    }

    /// The rays of the channel `lab` of the last frame, and what they found.
    pub fn lab_rays(&self) -> Option<&RayList> {
        self.lab.list()
    }

    /// The surface that the channel `deviation` measures from.
    pub fn compared(&self) -> Option<&Arc<ComparedTree>> {
        self.deviation.compared()
    }

    /// Whether the environment is not yet what the last frame asked for.
    pub fn environment_is_pending(&self) -> bool {
        self.environment.is_pending()
    }

    /// Records a frame of `scene` that ends in `target`, a view of a non-sRGB 8-bit format: the values are sRGB-encoded
    /// here. Compiles what it needs. Returns the encoder of its last part, for [`Renderer::submit`].
    ///
    /// # Errors
    ///
    /// Those of compiling, and of the adapter's memory; [`crate::Error::Limit`] where the picture is too large.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        target: &wgpu::TextureView,
    ) -> Result<wgpu::CommandEncoder> {
        self.record_sample(gpu, input, scene, FrameSample::SINGLE, target)
    }

    /// As [`Renderer::record`], one frame of the several that the lit picture is the mean of. The last one
    /// draws to `target`.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn record_sample(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<wgpu::CommandEncoder> {
        loop {
            match self.record_compiled(gpu, input, scene, sample, target)? {
                Attempt::Whole(encoder) => return Ok(encoder),
                Attempt::Missing(needs) => needs.meet(gpu)?,
            }
        }
    }

    /// As [`Renderer::record_sample`], where all is compiled that the frame needs. Otherwise nothing is recorded.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn record_compiled(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<Attempt> {
        let mut encoder = gpu.encoder(FRAME_SCOPE);
        let frame = || self.record_frame(gpu, &mut encoder, input, scene, sample, target);
        let (recorded, needs) = collect(frame);
        if !needs.is_empty() || recorded.is_err() {
            self.abort(gpu, scene)?;
        }
        let drawn = recorded?;
        if !needs.is_empty() {
            return Ok(Attempt::Missing(needs));
        }
        self.commit(drawn, scene);
        Ok(Attempt::Whole(encoder))
    }

    /// What has to be compiled before this frame is recorded.
    ///
    /// # Errors
    ///
    /// As for [`Renderer::record`], but for those of compiling.
    pub fn missing(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<Needs> {
        let mut encoder = gpu.encoder(FRAME_SCOPE);
        let frame = || self.record_frame(gpu, &mut encoder, input, scene, sample, target);
        let (recorded, needs) = collect(frame);
        self.abort(gpu, scene)?;
        recorded.map(|_| needs)
    }

    fn record_frame(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        input: &FrameInput<'_>,
        scene: &mut UploadedScene,
        sample: FrameSample,
        target: &wgpu::TextureView,
    ) -> Result<DrawnFrame> {
        let UploadedScene { buffers, state } = scene;
        let lit = input.scene.lit_by(input.config);
        let settings = paths::settings(&lit, input.channel);
        let input = &FrameInput {
            config: &settings,
            ..*input
        };
        let is_fast = !paths::traces(input.config, input.channel);
        let sample = if is_fast { sample } else { FrameSample::SINGLE };
        let shape = (target.texture().format(), image::size_of_view(target));
        // Until this frame is recorded whole, there is none to read back or to go on from.
        self.last = None;
        self.parts.clear();
        self.passes().into_iter().for_each(LifeCycle::begin);
        frame::check_size(gpu, input.size)?;
        let froxels = fog::froxels(input.config, gpu.capabilities.fast_rays, input.size);
        let froxel_rows = froxels.map_or(0, |[_, rows, slices]| rows * slices);
        let rows = input.size[1].max(shape.1[1]).max(froxel_rows);
        let slices = match buffers.volumes.is_empty() {
            true => 0,
            false => volumes::SLICES,
        };
        self.first_rows.fit(gpu, rows.max(slices))?;
        // Sampling begins anew with other settings, so that the same settings give the same picture.
        let continues = self
            .frames_are_of
            .as_ref()
            .is_some_and(|(version, size, config)| {
                (*version, *size) == (buffers.version, input.size) && config == input.config
            });
        let begins = (!continues).then(|| (buffers.version, input.size, input.config.clone()));
        let number = if continues { self.frames } else { 0 };
        let sampled = self.sampled_as.unwrap_or(number);
        let (profiler, first_rows) = (&self.profiler, &self.first_rows);
        let mut recording =
            Recording::new(gpu, profiler, first_rows, FRAME_SCOPE, encoder, self.budget);
        let r = &mut recording;

        // What is settled before the first pass: origin, sun, lights, boxes; then the uniforms and what
        // changes the trees.
        let mut prepared = Prepared::new(
            gpu,
            input,
            buffers,
            sample,
            (sampled, shape.1),
            &self.environment,
        )?;
        let shadow_maps = self.shadows.fit_maps(gpu, &mut prepared)?;
        let spreads = self.spreads_environment;
        let environment = self.environment.record(r, &prepared.config, spreads)?;
        let layouts = &self.uploader.layouts;
        let frame = self
            .uniforms
            .write(gpu, layouts, prepared, environment, shadow_maps)?;
        let plan = state.update(gpu, &frame);

        state.last_positions.keep(r, &frame, &plan)?;
        let geometry = self.deform.record(r, &frame, &plan)?;
        let (tree, policy) = (&mut state.tree, &mut state.policy);
        let trees = self.trees.record(r, geometry, tree, policy, &plan)?;
        let world = World {
            frame: &frame,
            geometry,
            trees,
            plan: &plan,
        };
        let gbuffer = self.gbuffer.record(r, world)?;
        self.points_lines.record(r, world, gbuffer)?;
        self.ground.record(r, world, gbuffer)?;
        let last_positions = state.last_positions.get();
        let motion = self.motion.record(r, world, gbuffer, last_positions)?;
        let history = self.history.record(r, world, gbuffer, motion)?;
        let seen = Seen {
            gbuffer,
            motion,
            history,
        };
        self.shadows.record(r, world, seen)?;
        let ambient = self.occlusion.record(r, world, seen)?;
        let air = self.fog.record(r, world, gbuffer, is_fast)?;
        let shadows = &mut self.shadows;
        let reflected = self.reflections.record(r, world, seen, air, shadows)?;
        let visibility = self.shadows.output();
        let (radiance, path_samples) = if is_fast {
            self.volumes.shade(r, &frame, gbuffer, visibility)?;
            let incident = Incident {
                visibility,
                ambient,
                reflected,
                air,
            };
            let radiance = self.lighting.record(r, world, gbuffer, incident)?;
            self.layers.record(r, world, gbuffer, incident, radiance)?;
            let kept = volumes::Kept {
                total: volumes::wants_total(input),
                layers: self.blend.draws(world),
            };
            let volumes = self
                .volumes
                .record(r, world, gbuffer, air, radiance, kept)?;
            let blended = self.blend_gbuffer.record(r, world, gbuffer)?;
            let shadows = &mut self.shadows;
            let reflected = self
                .reflections
                .record_blended(r, world, blended, air, shadows)?;
            let (front, between) = ((blended, reflected), (air, volumes));
            self.blend
                .record(r, world, gbuffer, front, between, radiance)?;
            (radiance, None)
        } else {
            let (level, face) = environment.level(paths::ENVIRONMENT_TEXELS);
            let sky = (&level, face, environment.state());
            let added = (self.path_part.as_ref(), self.path_samples);
            let (radiance, samples) = self.paths.record(r, world, sky, added)?;
            (radiance, Some(samples))
        };
        let radiance = self.depth_of_field.record(r, &frame, gbuffer, radiance)?;
        let (visibility, reflected) = (self.shadows.output(), self.reflections.output());
        let is_wanted = input.wants(Channel::Deviation);
        let deviation = self.deviation.record(r, &frame, gbuffer, is_wanted)?;
        let is_wanted = input.wants(Channel::Intersections);
        let through = self.intersections.record(r, world, is_wanted)?;
        let is_wanted = input.wants(Channel::Lab);
        let lab = self.lab.record(r, world, gbuffer, is_wanted)?;
        let source = ChannelSource {
            group: &frame.group,
            buffers,
            gbuffer,
            visibility,
            ambient,
            reflected,
            radiance,
            motion,
            deviation,
            through,
            lab,
            air,
            volumes: self.volumes.total(),
        };
        if !frame.is_lit() {
            self.channel.record(r, frame.channel, source)?;
        }
        let shown = PresentSource {
            radiance,
            channel: self.channel.output(),
            gbuffer,
            motion,
            path_samples,
        };
        self.present.record(r, &frame, shown, target)?;
        self.overlay.record(r, &frame, gbuffer, target)?;
        self.tree_boxes.record(r, world, gbuffer, target)?;

        let metered = input.config.image.is_metered() && frame.is_lit();
        let pixels = recording.pixels();
        let (cpu_record_ms, parts) = recording.finish();
        let [width, height] = frame.size.map(u64::from);
        Ok(DrawnFrame {
            last: LastFrame {
                group: frame.group.clone(),
                rays: frame.rays(),
                sample,
                is_fast,
            },
            number,
            sampled,
            begins,
            parts,
            cpu_record_ms,
            pixels,
            occlusion_rays: width * height * u64::from(frame.occlusion_rays),
            lights: frame.lights.len() as u32,
            traces_reflections: frame.traces_reflections,
            exposure_ev: (!metered).then_some(input.exposure_ev),
            plan,
        })
    }

    /// The frame has been recorded whole: it leaves behind what holds for the next one.
    fn commit(&mut self, drawn: DrawnFrame, scene: &mut UploadedScene) {
        let UploadedScene { buffers, state } = scene;
        let plan = &drawn.plan;
        state.commit(plan);
        self.passes().into_iter().for_each(LifeCycle::commit);
        let is_fast = drawn.last.is_fast;
        self.last = Some(drawn.last);
        self.parts.extend(drawn.parts);
        self.recorded_pixels = drawn.pixels;
        (self.frames, self.sampled) = (drawn.number.wrapping_add(1), drawn.sampled);
        if drawn.begins.is_some() {
            self.frames_are_of = drawn.begins;
        }
        // More frames than this are not in flight; those of adapters without times are never asked for.
        if self.occlusion_rays.len() == 16 {
            self.occlusion_rays.pop_front();
        }
        self.occlusion_rays.push_back(drawn.occlusion_rays);
        let traces = self.shadows.output().is_traced();
        let [exposure_ev, exposure_target_ev] = match drawn.exposure_ev {
            Some(ev) => [ev; 2],
            None => [self.stats.exposure_ev, self.stats.exposure_target_ev],
        };
        self.stats = FrameStats {
            passes: std::mem::take(&mut self.stats.passes),
            timed_frames: self.stats.timed_frames,
            cpu_record_ms: drawn.cpu_record_ms,
            triangles: buffers.triangle_count,
            lines: buffers.line_and_point_counts[0],
            points: buffers.line_and_point_counts[1],
            vertices: buffers.vertex_count,
            meshes: buffers.meshes.len() as u32,
            lights: drawn.lights,
            // What came back last, until this frame's figures do.
            rays: if traces { self.stats.rays } else { 0 },
            tiles: self.shadows.tiles(),
            sending_tiles: if traces { self.stats.sending_tiles } else { 0 },
            reflections: match drawn.traces_reflections {
                true => self.stats.reflections,
                false => ReflectionCounts::default(),
            },
            tree_work: plan.work,
            tree_growth: plan.growth,
            tree_dispatches: match plan.work {
                TreeWork::None => 0,
                _ => state.tree.dispatches(),
            },
            exposure_ev,
            exposure_target_ev,
            intersections: self.intersections.counts(),
            lab: self.lab.counts(),
            tree_boxes: self.tree_boxes.counts(),
            overlay: self.overlay.counts(),
            cost_range: self.present.cost_range.found(),
            noise: self.present.noise.found(),
            path_samples: (!is_fast).then(|| self.paths.samples()),
        };
    }

    /// Undoes what was recorded of a frame that is dropped.
    fn abort(&mut self, gpu: &Gpu, scene: &mut UploadedScene) -> Result<()> {
        scene.state.abort(gpu);
        self.passes().into_iter().for_each(LifeCycle::abort);
        self.profiler.abandon(gpu)
    }

    /// Submits what was recorded, and what the caller added to it (the panel, say), and reads the figures of
    /// earlier frames. Never waits.
    pub fn submit(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) {
        self.finish(encoder);
        while !self.submit_part(gpu) {}
    }

    /// Ends the frame that was recorded, whose last part `encoder` holds. [`Renderer::submit_part`] submits
    /// it.
    pub fn finish(&mut self, encoder: wgpu::CommandEncoder) {
        self.parts.push_back(Part {
            pass: FRAME_SCOPE,
            commands: self.profiler.finish(encoder),
        });
    }

    /// Submits the next part of the frame. After the last one it reads the figures of earlier frames and
    /// returns `true`. Never waits.
    pub fn submit_part(&mut self, gpu: &Gpu) -> bool {
        if let Some(part) = self.parts.pop_front() {
            gpu.queue.submit([part.commands]);
            if self.parts.is_empty() {
                self.profiler.end_frame();
            }
        }
        self.collect(gpu);
        self.parts.is_empty()
    }

    /// The pass that the next part of the frame belongs to.
    pub fn next_part(&self) -> Option<&'static str> {
        self.parts.front().map(|part| part.pass)
    }

    /// Forgets the parts of the last frame of `scene` that have not been submitted, and whatever the next
    /// frame cannot go on from without them.
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where the adapter has no memory left.
    pub fn abandon(&mut self, gpu: &Gpu, scene: &mut UploadedScene) -> Result<()> {
        if self.parts.is_empty() {
            return Ok(());
        }
        self.parts.clear();
        self.occlusion_rays.clear();
        self.last = None;
        self.frames_are_of = None;
        scene.state.lose();
        self.passes().into_iter().for_each(LifeCycle::lose);
        self.profiler.abandon(gpu)
    }

    /// The next frame has no history, as the first one of another renderer.
    pub fn begin_anew(&mut self) {
        self.passes().into_iter().for_each(LifeCycle::forget);
        self.frames_are_of = None;
    }

    /// All passes that keep anything between frames.
    fn passes(&mut self) -> [&mut dyn LifeCycle; 11] {
        [
            &mut self.environment,
            &mut self.motion,
            &mut self.history,
            &mut self.shadows,
            &mut self.occlusion,
            &mut self.fog,
            &mut self.reflections,
            &mut self.volumes,
            &mut self.paths,
            &mut self.intersections,
            &mut self.present,
        ]
    }

    /// See [`Renderer::sampled_as`].
    pub fn sampled(&self) -> u32 {
        self.sampled
    }

    /// Number of the last frame that was submitted whole.
    pub fn submitted_frames(&self) -> u64 {
        self.profiler.ended()
    }

    /// The timings that have come back since the last call, of frames by [`Renderer::submitted_frames`].
    pub fn take_timed(&mut self) -> impl Iterator<Item = Arc<TimedFrame>> {
        self.profiler.take_finished()
    }

    /// Reads timings and counts that have come back. Those of a frame are not asked for before its last part
    /// was submitted.
    pub fn collect(&mut self, gpu: &Gpu) {
        if !self.parts.is_empty() {
            return;
        }
        self.profiler.collect(gpu);
        let timed = self
            .profiler
            .frames()
            .saturating_sub(self.stats.timed_frames);
        self.stats.passes.clear();
        self.stats.passes.extend_from_slice(self.profiler.timings());
        self.stats.timed_frames = self.profiler.frames();
        if let Some([rays, sending_tiles]) = self.shadows.collect() {
            (self.stats.rays, self.stats.sending_tiles) = (rays.into(), sending_tiles);
        }
        if let Some(counts) = self.reflections.collect() {
            self.stats.reflections = counts;
        }
        if self.intersections.collect() {
            self.stats.intersections = self.intersections.counts();
        }
        self.lab.collect();
        self.stats.lab = self.lab.counts();
        self.tree_boxes.collect();
        self.present.cost_range.collect();
        self.stats.cost_range = self.present.cost_range.found();
        self.stats.tree_boxes = self.tree_boxes.counts();
        self.stats.noise = self.present.noise.collect();
        if let Some(metered) = self.present.exposure.collect() {
            [self.stats.exposure_ev, self.stats.exposure_target_ev] = metered;
        }
        // What was timed are earlier frames.
        let mut occlusion_rays = 0;
        for _ in 0..timed {
            occlusion_rays = self.occlusion_rays.pop_front().unwrap_or(0);
        }
        if let Some(frame_ms) = self.stats.frame_ms().filter(|_| timed > 0) {
            let timed = |rays, pass| Traced {
                rays,
                ms: Some(self.stats.pass_ms(pass).unwrap_or(0.0)),
            };
            let shadows = timed(self.stats.rays, shadow_rays::LABEL);
            let occlusion = timed(occlusion_rays, occlusion_rays::LABEL);
            self.budget
                .learn(frame_ms, shadows, occlusion, self.recorded_pixels);
        }
    }

    /// The noise of the picture whose last frame was submitted, waiting for it; `None` where it was not estimated.
    pub fn read_noise(&mut self, gpu: &Gpu) -> Result<Option<Noise>> {
        self.present.noise.collect();
        gpu.wait()?;
        self.stats.noise = self.present.noise.collect();
        Ok(self.stats.noise)
    }

    /// Learns how much work the adapter is given at once from the time of the last frame by the clock: for
    /// adapters that tell no times of their own.
    pub fn learn_wall_ms(&mut self, frame_ms: f64) {
        let untimed = |rays| Traced { rays, ms: None };
        let occlusion = self.occlusion_rays.pop_back().unwrap_or(0);
        self.occlusion_rays.clear();
        let shadows = untimed(self.stats.rays);
        let pixels = self.recorded_pixels;
        self.budget
            .learn(frame_ms, shadows, untimed(occlusion), pixels);
    }

    /// What has to be compiled before the trees are asked what a camera with these settings needs to know.
    pub fn camera_needs(&self, camera: &config::Camera, needs: &mut Needs) {
        match camera.mode {
            CameraMode::Walk => self.walk.needs(needs),
            CameraMode::Orbit if camera.avoid_walls => self.camera_arm.needs(needs),
            CameraMode::Orbit => {}
        }
    }

    /// Whether the deformed geometry of `scene` and its trees are there once what has been submitted is done:
    /// not before its first frame, and not while the parts of a frame that make them are still to be
    /// submitted.
    pub fn has_geometry(&self, scene: &UploadedScene) -> bool {
        let version = self.frames_are_of.as_ref().map(|(version, ..)| *version);
        self.last.is_some()
            && version == Some(scene.buffers.version)
            && self.parts.iter().all(|part| part.pass != trees::LABEL)
    }

    /// What picks and outlines compile for `scene`.
    pub fn selection_needs(&self, scene: &UploadedScene, needs: &mut Needs) {
        self.pick.needs(needs);
        self.outline.needs(&scene.buffers, needs);
    }

    /// Copies the deformed vertices and the triangles of a mesh of the last frame; [`GeometryCopy::map`] asks
    /// for them after the submission. `None` where there is no such mesh, or no geometry
    /// ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where the adapter has no memory left.
    pub fn copy_mesh(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        mesh: usize,
    ) -> Result<Option<GeometryCopy>> {
        match self.has_geometry(scene) {
            true => GeometryCopy::of_mesh(gpu, encoder, &scene.buffers, mesh),
            false => Ok(None),
        }
    }

    /// As [`Renderer::copy_mesh`], of all meshes.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn copy_geometry(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
    ) -> Result<Option<GeometryCopy>> {
        match self.has_geometry(scene) {
            true => GeometryCopy::of_scene(gpu, encoder, &scene.buffers).map(Some),
            false => Ok(None),
        }
    }

    /// What the path of a ray compiles.
    pub fn path_needs(&self, needs: &mut Needs) {
        self.ray_path.needs(needs);
        self.tree_boxes.path_needs(needs);
    }

    /// Draws these lines of a path through the trees of the last frame of `scene` for a picture of `size`,
    /// for [`Renderer::show_path`].
    ///
    /// # Errors
    ///
    /// Those of compiling the pass, and of the adapter's memory.
    pub fn draw_path(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (view, size, config): (&View, [u32; 2], &Config),
        lines: &[TreeBox],
    ) -> Result<()> {
        let view = view.moved(-scene.buffers.origin);
        let seen = (&view, size, &config.tree_boxes);
        self.tree_boxes
            .draw_path(gpu, encoder, self.gbuffer.output(), seen, lines)
    }

    /// Lays the path that was drawn last over `target`, with its upper left corner at `origin`.
    ///
    /// # Errors
    ///
    /// Those of compiling the pass.
    pub fn show_path(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        origin: [u32; 2],
    ) -> Result<()> {
        self.tree_boxes.show_path(gpu, encoder, target, origin)
    }

    /// Traces the rays of what `query` sees through the trees of the last frame, which was one of `scene`;
    /// [`RayPathCopy::map`] asks for their steps after the submission. `None` where there is no geometry
    /// ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// Those of compiling the pass, and of the adapter's memory.
    pub fn trace_path(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (query, of): (&PickQuery, PathOf),
    ) -> Result<Option<RayPathCopy>> {
        let Some(last) = self.last.as_ref().filter(|_| self.has_geometry(scene)) else {
            return Ok(None);
        };
        let seen = (&last.group, self.gbuffer.output());
        self.ray_path
            .record(gpu, encoder, scene, seen, (query, of))
            .map(Some)
    }

    /// Copies the nodes of the trees of the last frame, of which the figures are counted on the CPU;
    /// [`TreeCopy::map`] asks for them after the submission. `None` where there is no geometry
    /// ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// [`crate::Error::Gpu`] where the adapter has no memory left.
    pub fn copy_trees(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
    ) -> Result<Option<TreeCopy>> {
        match self.has_geometry(scene) {
            true => TreeCopy::record(gpu, encoder, &scene.state.tree).map(Some),
            false => Ok(None),
        }
    }

    /// Draws the outlines of the selected meshes of the last frame of `scene`, for
    /// [`Renderer::show_outline`]. Returns `false` where there is no geometry ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// Those of compiling the pass, and of the adapter's memory.
    pub fn draw_outline(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        query: &OutlineQuery,
    ) -> Result<bool> {
        if !self.has_geometry(scene) {
            return Ok(false);
        }
        self.outline
            .record(gpu, encoder, &scene.buffers, query)
            .map(|()| true)
    }

    /// Lays the outlines that were drawn last over `target`, with their upper left corner at `origin`.
    ///
    /// # Errors
    ///
    /// Those of compiling the pass.
    pub fn show_outline(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        origin: [u32; 2],
    ) -> Result<()> {
        self.outline.show(gpu, encoder, target, origin)
    }

    /// Records a ray into the trees of the last frame, which was one of `scene`. Returns the number of the
    /// answer, or `None` where there is no geometry ([`Renderer::has_geometry`]) or too many answers are
    /// awaited.
    ///
    /// # Errors
    ///
    /// Those of compiling the pass, and of the adapter's memory. Then what `encoder` holds must not be
    /// submitted.
    pub fn pick(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        query: &PickQuery,
    ) -> Result<Option<u64>> {
        let Some(last) = self.last.as_ref().filter(|_| self.has_geometry(scene)) else {
            return Ok(None);
        };
        let seen = (self.gbuffer.output(), last.rays);
        self.pick.record(gpu, encoder, scene, seen, query)
    }

    /// After the submission: hands out the answers that have arrived, by number; `None` where the ray hit
    /// nothing. `scene` is the one that they were asked of. Never waits: the device has to be polled.
    pub fn collect_picks(
        &mut self,
        scene: &UploadedScene,
        mut arrived: impl FnMut(u64, Option<Picked>),
    ) {
        self.pick
            .collect(|number, hit| arrived(number, pick::named(&hit, scene)));
    }

    /// The figures of the last frames.
    pub fn stats(&self) -> &FrameStats {
        &self.stats
    }
}
