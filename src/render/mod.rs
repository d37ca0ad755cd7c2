//! The frame: [`Renderer::record`] is one function in which every edge between passes can be read off.

pub mod accumulate;
pub mod antialias;
pub mod bindings;
pub mod blend;
pub mod channel;
pub mod deform;
pub mod environment;
pub mod exposure;
pub mod frame;
pub mod gbuffer;
pub mod layers;
pub mod lighting;
pub mod lights;
pub mod materials;
pub mod mipmap;
pub mod occlusion;
pub mod occlusion_filter;
pub mod occlusion_rays;
pub mod pace;
pub mod points_lines;
pub mod ray_list;
pub mod regrowth;
pub mod scene_buffers;
mod segments;
pub mod shadow_classify;
pub mod shadow_map;
pub mod shadow_rays;
mod sheen;
pub mod targets;
pub mod tonemap;

pub use accumulate::Sample;
pub use regrowth::TreeWork;
pub use scene_buffers::{SceneBuffers, Uploader};

use crate::{
    Error, Result,
    config::{self, Config, ShadowMode},
    gpu::{
        Gpu, Needs,
        layout::SHADOW_HEADER,
        profiler::{PassTiming, Profiler, Stopwatch},
        readback::Counters,
    },
    scene::{Pose, Projection, Scene, bounds::Aabb, environment::EnvironmentImage},
};
use accumulate::Accumulate;
use antialias::Antialias;
use blend::Blend;
use channel::ChannelPass;
use environment::Environment;
use exposure::Exposure;
use frame::FrameUniforms;
use gbuffer::GBuffer;
use glam::{Mat4, Vec3, Vec4};
use layers::LayersPass;
use lighting::Lighting;
use occlusion::Occlusion;
use occlusion_filter::OcclusionFilter;
use occlusion_rays::OcclusionRays;
use pace::Pace;
use points_lines::PointsLines;
use shadow_classify::ShadowClassify;
use shadow_map::ShadowMap;
use shadow_rays::ShadowRays;
use std::sync::Arc;
use targets::{PICTURE_FORMAT, Shape, Targets};
use tonemap::Tonemap;

/// Where the picture is taken from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The camera, looking along its −Z.
    pub world_from_view: Mat4,
    /// Its projection.
    pub projection: Projection,
    /// Distance of the near plane in metres.
    pub near: f32,
    /// Distance of the far plane in metres.
    pub far: f32,
}

/// What a picture shows: the lit image, or a channel of the frame as floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Channel {
    /// The finished picture.
    #[default]
    Lit,
    /// World position in metres; NaN where there is nothing.
    Position,
    /// World normal, as shaded.
    Normal,
    /// Base colour, linear.
    Albedo,
    /// Perceptual roughness.
    Roughness,
    /// Metalness.
    Metallic,
    /// Ambient occlusion from the material.
    Occlusion,
    /// Emitted radiance.
    Emissive,
    /// Distance along the view axis in metres.
    Depth,
    /// Index of the mesh instance.
    Mesh,
    /// Index of the material.
    Material,
    /// 1 where the first light arrives.
    Shadow,
    /// Nodes and triangles visited by the pixel's shadow rays.
    Cost,
    /// Share of the light from everywhere that arrives; 1 where it is not traced.
    Ambient,
}

impl Channel {
    /// All channels, in the order of lists.
    pub const ALL: [Self; 14] = [
        Self::Lit,
        Self::Position,
        Self::Normal,
        Self::Albedo,
        Self::Roughness,
        Self::Metallic,
        Self::Occlusion,
        Self::Emissive,
        Self::Depth,
        Self::Mesh,
        Self::Material,
        Self::Shadow,
        Self::Cost,
        Self::Ambient,
    ];

    /// The name on the command line and in lists, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Lit => "lit",
            Self::Position => "position",
            Self::Normal => "normal",
            Self::Albedo => "albedo",
            Self::Roughness => "roughness",
            Self::Metallic => "metallic",
            Self::Occlusion => "occlusion",
            Self::Emissive => "emissive",
            Self::Depth => "depth",
            Self::Mesh => "mesh",
            Self::Material => "material",
            Self::Shadow => "shadow",
            Self::Cost => "cost",
            Self::Ambient => "ambient",
        }
    }
}

/// All that a frame needs.
#[derive(Debug, Clone, Copy)]
pub struct FrameInput<'a> {
    /// What is shown.
    pub scene: &'a Scene,
    /// The same, uploaded.
    pub buffers: &'a SceneBuffers,
    /// The moment.
    pub pose: &'a Pose,
    /// From where.
    pub view: View,
    /// How.
    pub config: &'a Config,
    /// Exposure in stops, settled from the configuration. Where the picture's histogram settles it, that of a black one.
    pub exposure_ev: f32,
    /// Since the last frame of the same scene, for the eye to adapt in; infinite where there was none.
    pub elapsed_secs: f32,
    /// What the picture shows.
    pub channel: Channel,
    /// Pixels that are traced and shaded; the target may be larger.
    pub size: [u32; 2],
}

/// What a frame took and did.
#[derive(Debug, Clone, Default)]
pub struct FrameStats {
    /// Every pass on the GPU, in order.
    pub passes: Vec<PassTiming>,
    /// Time the CPU took to record the last frame.
    pub cpu_record_ms: f64,
    /// Triangles in the merged buffers.
    pub triangles: u32,
    /// Lines in the merged buffers.
    pub lines: u32,
    /// Points in the merged buffers.
    pub points: u32,
    /// Vertices in the merged buffers.
    pub vertices: u32,
    /// Meshes, each with a tree of its own.
    pub meshes: u32,
    /// Inner nodes of all trees.
    pub nodes: u32,
    /// Lights, with the sun.
    pub lights: u32,
    /// Shadow rays of the last frame whose count has come back.
    pub rays: u64,
    /// Tiles of 8 × 8 pixels that were asked for shadow rays, once for each batch of lights; 0 where rays are not compacted.
    pub tiles: u32,
    /// Those of them that sent any; of the last frame whose count has come back.
    pub sending_tiles: u32,
    /// What was done to the trees.
    pub tree_work: TreeWork,
    /// Refit trees: their cost over that of the last build, as last seen; 1 where it is not measured.
    pub tree_growth: f32,
    /// Compute dispatches that did it.
    pub tree_dispatches: u32,
    /// Exposure in stops; where the picture's histogram settles it, of the last frame of which that has come back.
    pub exposure_ev: f32,
    /// What that was on its way to.
    pub exposure_target_ev: f32,
}

/// An image of floats, rows from the top.
#[derive(Debug, Clone)]
pub struct FloatImage {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four floats a pixel; what a channel does not use is 0, and alpha is 1 where there is something.
    pub texels: Vec<[f32; 4]>,
}

/// Triangles read back from the merged buffers.
#[derive(Debug, Clone)]
pub struct Merged {
    /// World positions.
    pub positions: Vec<Vec3>,
    /// World normals.
    pub normals: Vec<Vec3>,
    /// World tangents, with the bitangent's sign in w.
    pub tangents: Vec<Vec4>,
    /// Length in the world of a metre along each normal in the space of its mesh.
    pub scales: Vec<f32>,
    /// Vertices of each triangle.
    pub indices: Vec<[u32; 3]>,
    /// Range of triangles of each mesh instance.
    pub meshes: Vec<std::ops::Range<u32>>,
}

/// The renderer: every pass, and what lives longer than a frame.
#[derive(Debug)]
pub struct Renderer {
    uploader: Arc<Uploader>,
    uniforms: FrameUniforms,
    environment: Environment,
    gbuffer: GBuffer,
    points_lines: PointsLines,
    shadow_map: ShadowMap,
    shadow_classify: ShadowClassify,
    shadow_rays: ShadowRays,
    occlusion_rays: OcclusionRays,
    occlusion_filter: OcclusionFilter,
    occlusion: Occlusion,
    /// Shadow rays, and tiles that sent them.
    counters: Counters<{ SHADOW_HEADER as usize }>,
    lighting: Lighting,
    layers: LayersPass,
    blend: Blend,
    channel: ChannelPass,
    exposure: Exposure,
    tonemap: Tonemap,
    antialias: Antialias,
    accumulate: Accumulate,
    profiler: Profiler,
    /// What is handed to the GPU at once.
    pub pace: Pace,
    /// Whether a new environment may come over several frames where the adapter is slow, with the one before in them.
    pub spreads_environment: bool,
    targets: Targets,
    stats: FrameStats,
    /// Group 0 of the last frame, for reading its channels.
    frame: Option<wgpu::BindGroup>,
    /// Which of its picture's frames that was.
    sample: Sample,
}

impl Renderer {
    /// Every pass is compiled by the first frame that needs it.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let uploader = Uploader::new(gpu);
        let layouts = &uploader.layouts;
        let exposure = Exposure::new(gpu);
        Ok(Self {
            uniforms: FrameUniforms::new(gpu),
            environment: Environment::new(gpu)?,
            gbuffer: GBuffer::new(layouts),
            points_lines: PointsLines::new(layouts),
            shadow_map: ShadowMap::new(gpu, layouts),
            shadow_classify: ShadowClassify::new(gpu, layouts),
            shadow_rays: ShadowRays::new(gpu, layouts),
            occlusion_rays: OcclusionRays::new(gpu, layouts),
            occlusion_filter: OcclusionFilter::new(gpu, layouts),
            occlusion: Occlusion::new(gpu),
            counters: Counters::new(gpu, "shadow_rays.counters"),
            lighting: Lighting::new(gpu, layouts),
            layers: LayersPass::new(gpu, layouts),
            blend: Blend::new(layouts),
            channel: ChannelPass::new(gpu, layouts),
            tonemap: Tonemap::new(gpu, &exposure.used),
            antialias: Antialias::new(gpu),
            accumulate: Accumulate::new(gpu, &exposure.used)?,
            exposure,
            profiler: Profiler::new(gpu)?,
            pace: Pace::default(),
            spreads_environment: false,
            targets: Targets::new(gpu, Shape::default()),
            stats: FrameStats::default(),
            frame: None,
            sample: Sample::SINGLE,
            uploader: Arc::new(uploader),
        })
    }

    /// What brings scenes into GPU memory, from any thread.
    pub fn uploader(&self) -> Arc<Uploader> {
        self.uploader.clone()
    }

    /// Takes `image` for the file that the configuration's environment names.
    pub fn set_environment(&mut self, gpu: &Gpu, image: Option<&EnvironmentImage>) -> Result<()> {
        self.environment.set_file(gpu, image)
    }

    /// Whether the environment is not yet what the last frame asked for.
    pub fn environment_is_pending(&self) -> bool {
        self.environment.is_pending()
    }

    /// What has to be compiled before a frame of `input` is recorded, which as one of `samples` ends in a target of this format and size; empty where
    /// all is ready.
    pub fn needs(
        &mut self,
        gpu: &Gpu,
        input: &FrameInput<'_>,
        samples: u32,
        (format, size): (wgpu::TextureFormat, [u32; 2]),
    ) -> Needs {
        let mut needs = Needs::default();
        let (buffers, config) = (input.buffers, input.config);
        let stretched = size != input.size;
        self.environment.needs(config, &mut needs);
        if config.tree.rebuild == config::Rebuild::Refit {
            self.uploader.cost.needs(&mut needs);
        }
        self.gbuffer.needs(buffers, &mut needs);
        self.points_lines.needs(buffers, &mut needs);
        match config.shadows.mode {
            ShadowMode::Off => {}
            ShadowMode::Map => self.shadow_map.needs(buffers, &mut needs),
            ShadowMode::Rays => {
                if config.shadows.compact_rays {
                    self.shadow_classify.needs(&mut needs);
                }
                self.shadow_rays
                    .needs(config.shadows.compact_rays, &mut needs);
            }
        }
        if config.occlusion.sends_rays(gpu.is_software()) {
            self.occlusion_rays.needs(&mut needs);
            self.occlusion_filter
                .needs(config.occlusion.filter, &mut needs);
        }
        self.lighting.needs(&mut needs);
        self.layers.needs(buffers, &mut needs);
        self.blend.needs(buffers, &mut needs);
        let is_lit = input.channel == Channel::Lit;
        if !is_lit {
            self.channel.needs(&mut needs);
        } else if config.image.is_metered() {
            self.exposure.needs(&mut needs);
        }
        if is_lit && samples > 1 {
            let mean = if stretched { PICTURE_FORMAT } else { format };
            self.accumulate.needs(mean, &mut needs);
            if stretched {
                self.antialias.needs_stretch(format, &mut needs);
            }
        } else if is_lit && config.image.antialias == config::Antialias::Smaa {
            self.tonemap.needs(PICTURE_FORMAT, &mut needs);
            self.antialias.needs(format, stretched, &mut needs);
        } else {
            self.tonemap.needs(format, &mut needs);
        }
        needs
    }

    /// Records a frame into `encoder` that ends in `target`, a view of a non-sRGB 8-bit format: the values are sRGB-encoded here.
    pub fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        input: &FrameInput<'_>,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        self.record_sample(gpu, encoder, input, Sample::SINGLE, target)
    }

    /// As [`Renderer::record`], one frame of the several that the lit picture is the mean of. Each looks elsewhere in its pixels, the first at
    /// their middles; `target` is drawn to by the last.
    pub fn record_sample(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        input: &FrameInput<'_>,
        sample: Sample,
        target: &wgpu::TextureView,
    ) -> Result<()> {
        let texture = target.texture();
        let shape = (texture.format(), [texture.width(), texture.height()]);
        self.needs(gpu, input, sample.count, shape).meet(gpu)?;
        let mut stopwatch = Stopwatch::new();
        let origin = input.buffers.origin;
        let moved = (origin != Vec3::ZERO).then(|| input.pose.moved(-origin));
        let input = &FrameInput {
            pose: moved.as_ref().unwrap_or(input.pose),
            view: input.view.moved(-origin),
            ..*input
        };
        let shadows = &input.config.shadows;

        let parts = input.buffers.bounds.parts(input.scene, input.pose);
        let bounds = Aabb::union_of_finite(&parts);
        let mut lights = lights::gather(input.scene, input.pose, input.config);
        let sunlit = lights::with_sun_of(input.scene, &lights, input.config);
        let input = &FrameInput {
            config: sunlit.as_ref().unwrap_or(input.config),
            ..*input
        };
        if let Some(sun) = self.environment.file_sun(input.config) {
            lights::add_sun(&mut lights, &sun, input.config);
        }
        let shadow_views = match shadows.mode {
            ShadowMode::Map => {
                let bounds = input.buffers.triangle_bounds(&parts);
                self.shadow_map.fit(gpu, input, &mut lights, bounds)?
            }
            ShadowMode::Off | ShadowMode::Rays => Vec::new(),
        };
        let traces = shadows.mode == ShadowMode::Rays;
        let is_lit = input.channel == Channel::Lit;
        let is_metered = input.config.image.is_metered();
        let accumulates = is_lit && sample.count > 1;
        let smooths = is_lit && input.config.image.antialias == config::Antialias::Smaa;
        let shape = Shape {
            size: input.size,
            traced_lights: traces.then_some(lights.len() as u32),
            compact: shadows.compact_rays,
            // Samples are summed up in the targets: those have to stay.
            batch_rays: match sample.index {
                0 => self.pace.batch_rays,
                _ => self.targets.shape.batch_rays,
            },
            smooths: smooths || accumulates,
        };
        self.resize(gpu, shape)?;
        let targets = &self.targets;
        let mut scope = self.profiler.scope("frame", encoder);
        self.environment.record(
            gpu,
            &mut scope,
            input.config,
            self.pace,
            self.spreads_environment,
            &mut stopwatch,
        )?;
        let frame = self.uniforms.write(
            gpu,
            &self.uploader.layouts,
            input,
            sample,
            (&lights, &self.environment),
            (&self.shadow_map, &shadow_views),
        );
        let materials = &input.buffers.materials;
        materials.write(gpu, input.scene, input.pose);
        let changed = input.buffers.write_pose(gpu, input.scene, input.pose);
        let regrowth = &input.buffers.regrowth;
        let moves = changed.contains(&true);
        let plan = regrowth.plan(&input.config.tree, changed, sample.index > 0);
        let occludes = input.config.occlusion.sends_rays(gpu.is_software());
        self.occlusion.begin(gpu, input, occludes, moves)?;
        let occlusion = &self.occlusion;

        if plan.work != TreeWork::None {
            self.uploader
                .deform
                .get(gpu)?
                .record(&mut scope, input.buffers);
            let tree = &input.buffers.tree;
            regrowth.record(gpu, &mut scope, &self.uploader, tree, &plan)?;
        }
        self.pace.part(gpu, &mut scope, &mut stopwatch);
        self.gbuffer
            .record(gpu, &mut scope, &frame, input.buffers, targets)?;
        if !input.buffers.segments.is_empty() {
            let (buffers, scope) = (input.buffers, &mut scope);
            self.points_lines
                .record(gpu, scope, &frame, buffers, &parts, targets)?;
        }
        self.pace.part(gpu, &mut scope, &mut stopwatch);
        match shadows.mode {
            ShadowMode::Off => {}
            ShadowMode::Map => self.shadow_map.record(
                gpu,
                &mut scope,
                input.buffers,
                shadow_views.len(),
                shadows.blended_cast,
            )?,
            ShadowMode::Rays => {
                if shadows.compact_rays {
                    scope.clear_buffer(&targets.shadow_words, 0, None);
                    scope.clear_buffer(&targets.ray_list.arguments, 0, None);
                    for batch in &targets.ray_list.batches {
                        self.shadow_classify.record(
                            gpu,
                            &mut scope,
                            &frame,
                            input.buffers,
                            targets,
                            batch,
                        )?;
                        self.shadow_rays.record(
                            gpu,
                            &mut scope,
                            &frame,
                            input.buffers,
                            targets,
                            batch,
                        )?;
                        self.pace.part(gpu, &mut scope, &mut stopwatch);
                    }
                } else {
                    let header = 4 * u64::from(SHADOW_HEADER);
                    scope.clear_buffer(&targets.shadow_words, 0, Some(header));
                    self.shadow_rays.record_by_pixel(
                        gpu,
                        &mut scope,
                        &frame,
                        input.buffers,
                        targets,
                    )?;
                }
                self.counters.record(&mut scope, &targets.shadow_words);
            }
        }
        if occludes {
            for band in occlusion.bands(self.pace.batch_rays) {
                let to = (targets, occlusion);
                self.occlusion_rays
                    .record(gpu, &mut scope, &frame, input.buffers, to, band)?;
                self.pace.part(gpu, &mut scope, &mut stopwatch);
            }
            let filters = input.config.occlusion.filter;
            self.occlusion_filter
                .record(gpu, &mut scope, &frame, targets, occlusion, filters)?;
        }
        let (buffers, lit) = (input.buffers, (targets, occlusion));
        self.lighting
            .record(gpu, &mut scope, &frame, buffers, lit)?;
        if input.buffers.layered {
            self.layers.record(gpu, &mut scope, &frame, buffers, lit)?;
        }
        self.pace.part(gpu, &mut scope, &mut stopwatch);
        if !(input.buffers.blended.is_empty() && input.buffers.blended_segments.is_empty()) {
            self.blend
                .record(gpu, &mut scope, &frame, input, &parts, targets)?;
        }
        if input.channel != Channel::Lit {
            self.channel.record(
                gpu,
                &mut scope,
                &frame,
                input.channel,
                input.buffers,
                (targets, occlusion),
            )?;
        }
        if !is_metered {
            self.exposure.fix(gpu, input.exposure_ev);
        } else if is_lit && sample.index == 0 {
            let params = exposure::params(input, accumulates);
            let hdr = &targets.hdr.view;
            self.exposure.record(gpu, &mut scope, &params, hdr)?;
        }
        if accumulates {
            self.accumulate
                .record(gpu, &mut scope, input, sample, targets)?;
            let fits = targets.fits(target);
            let mean = if fits { target } else { &targets.smoothed.view };
            if sample.is_last() {
                self.accumulate
                    .resolve(gpu, &mut scope, input, sample, targets, mean)?;
                if !fits {
                    self.antialias.stretch(gpu, &mut scope, targets, target)?;
                }
            }
        } else if smooths {
            let picture = &targets.picture.view;
            self.tonemap
                .record(gpu, &mut scope, input, bounds, targets, picture)?;
            self.antialias.record(gpu, &mut scope, targets, target)?;
        } else {
            self.tonemap
                .record(gpu, &mut scope, input, bounds, targets, target)?;
        }
        drop(scope);
        regrowth.settle(&plan);
        self.occlusion.settle(&input.view, input.aspect());
        self.environment.settle();

        self.frame = Some(frame);
        self.sample = sample;
        self.stats = FrameStats {
            passes: std::mem::take(&mut self.stats.passes),
            cpu_record_ms: stopwatch.ms(),
            triangles: input.buffers.triangle_count,
            lines: input.buffers.line_and_point_counts[0],
            points: input.buffers.line_and_point_counts[1],
            vertices: input.buffers.vertex_count,
            meshes: input.buffers.meshes.len() as u32,
            nodes: input
                .buffers
                .meshes
                .iter()
                .map(|mesh| mesh.triangle_count.saturating_sub(1))
                .sum(),
            lights: lights.len() as u32,
            rays: 0,
            tiles: targets.ray_list.tiles(),
            sending_tiles: 0,
            tree_work: plan.work,
            tree_growth: plan.growth,
            tree_dispatches: match plan.work {
                TreeWork::None => 0,
                _ => input.buffers.tree.dispatches(),
            },
            exposure_ev: input.exposure_ev,
            exposure_target_ev: input.exposure_ev,
        };
        Ok(())
    }

    /// Submits what was recorded, and what the caller added to it (the panel, say), and takes in the figures of earlier frames. Never waits.
    pub fn submit(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) {
        self.profiler.submit(gpu, encoder);
        self.collect(gpu);
    }

    /// Takes in timings and counts that have come back.
    pub fn collect(&mut self, gpu: &Gpu) {
        self.counters.collect();
        self.profiler.collect(gpu);
        self.stats.passes.clear();
        self.stats.passes.extend_from_slice(self.profiler.timings());
        if self.targets.shape.traced_lights.is_some() {
            let [rays, sending_tiles] = self.counters.last();
            (self.stats.rays, self.stats.sending_tiles) = (rays.into(), sending_tiles);
        }
        if let Some(metered) = self.exposure.collect() {
            [self.stats.exposure_ev, self.stats.exposure_target_ev] = metered;
        }
        let time = |name: &str| {
            let passes = &mut self.stats.passes.iter();
            passes
                .find(|pass| pass.name == name)
                .map(|pass| pass.last_ms)
        };
        if let Some(frame_ms) = time("frame") {
            let rays_ms = time("shadow_rays").unwrap_or(0.0);
            self.pace.learn(frame_ms, self.stats.rays, rays_ms);
        }
    }

    /// The figures of the last frames.
    pub fn stats(&self) -> &FrameStats {
        &self.stats
    }

    /// A channel of the last frame, waiting for it. [`Channel::Lit`] is linear radiance before exposure, of a picture of several frames the mean of
    /// those that there have been.
    pub fn read_channel(
        &mut self,
        gpu: &Gpu,
        channel: Channel,
        buffers: &SceneBuffers,
    ) -> Result<FloatImage> {
        let frame = self
            .frame
            .as_ref()
            .ok_or_else(|| Error::NotFound("no frame has been drawn yet".into()))?;
        let [width, height] = self.targets.size;
        if channel == Channel::Lit && self.sample.count > 1 {
            return Ok(FloatImage {
                width,
                height,
                texels: self.accumulate.read(gpu, self.sample.index + 1)?,
            });
        }
        let mut encoder = gpu.encoder("channel");
        let mut scope = self.profiler.scope("channel", &mut encoder);
        let there = (&self.targets, &self.occlusion);
        self.channel
            .record(gpu, &mut scope, frame, channel, buffers, there)?;
        drop(scope);
        self.profiler.submit(gpu, encoder);
        let bytes = gpu.read_texture(&self.targets.channel.texture)?;
        Ok(FloatImage {
            width,
            height,
            texels: bytemuck::pod_collect_to_vec(&bytes),
        })
    }

    /// The merged buffers of the last frame, waiting for them.
    pub fn read_merged(&self, gpu: &Gpu, buffers: &SceneBuffers) -> Result<Merged> {
        let (vertices, triangles) = (
            buffers.vertex_count as usize,
            buffers.triangle_count as usize,
        );
        let positions: Vec<[f32; 3]> =
            bytemuck::pod_collect_to_vec(&gpu.read(&buffers.positions)?[..12 * vertices]);
        let frames: Vec<[f32; 7]> =
            bytemuck::pod_collect_to_vec(&gpu.read(&buffers.frames)?[..28 * vertices]);
        Ok(Merged {
            positions: positions
                .into_iter()
                .map(|position| buffers.origin + Vec3::from(position))
                .collect(),
            normals: frames
                .iter()
                .map(|frame| Vec3::new(frame[0], frame[1], frame[2]))
                .collect(),
            tangents: frames
                .iter()
                .map(|frame| Vec4::new(frame[3], frame[4], frame[5], frame[6].signum()))
                .collect(),
            scales: frames.iter().map(|frame| frame[6].abs()).collect(),
            indices: bytemuck::pod_collect_to_vec(&gpu.read(&buffers.indices)?[..12 * triangles]),
            meshes: buffers
                .meshes
                .iter()
                .map(|mesh| mesh.first_triangle..mesh.first_triangle + mesh.triangle_count)
                .collect(),
        })
    }

    /// Where the lights of the last frame arrived, waiting for it: bit i % 32 of word (i / 32 · height + y) · width + x is set where
    /// shadow rays found light i. Empty when the frame sent none.
    pub fn read_visibility(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&self.targets.shadow_words)?);
        let count = self.targets.shape.visibility_words() as usize;
        Ok(words[SHADOW_HEADER as usize..][..count].to_vec())
    }

    /// What is open of the light from everywhere at each pixel of the last frame, waiting for it: 10 bits of share over a direction in 2 × 11 bits,
    /// as `reference::occlusion::unpack_visibility` reads them. Empty when the frame sent no such rays.
    pub fn read_open(&self, gpu: &Gpu) -> Result<Vec<u32>> {
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&self.occlusion.words)?);
        Ok(words[..self.occlusion.pixels()].to_vec())
    }

    /// Makes the targets anew when the picture's size, or what its shadow rays need, has changed.
    fn resize(&mut self, gpu: &Gpu, shape: Shape) -> Result<()> {
        let size = shape.size;
        let allowed = gpu.limits.max_texture_dimension_2d;
        if size[0].max(size[1]) > allowed {
            let needed = format!("{} × {} pixels", size[0], size[1]);
            return Err(Error::Limit {
                what: "the picture".into(),
                needed,
                allowed: format!("{allowed} a side"),
                by: format!("texture limit of {}", gpu.info.name),
            });
        }
        if self.targets.shape != shape {
            shape.check(gpu)?;
            let targets = gpu.catch(|| Targets::new(gpu, shape));
            self.targets = targets.map_err(|e| {
                let picture = format!("{} × {} pixels", size[0], size[1]);
                Error::Gpu(format!(
                    "a picture of {picture} does not fit {}: {e}",
                    gpu.info.name
                ))
            })?;
        }
        Ok(())
    }
}

impl FrameInput<'_> {
    /// Width over height.
    pub fn aspect(&self) -> f32 {
        self.size[0].max(1) as f32 / self.size[1].max(1) as f32
    }
}
