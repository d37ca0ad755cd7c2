//! Inputs of a frame, the values that are determined before its first pass, and the uniforms of group 0.

pub mod blue_noise;
pub mod frame_sample;
pub mod life_cycle;
pub mod ray_list;
pub mod recording;
pub(super) mod slices;

use super::{
    aov::Channel,
    bindings::Layouts,
    environment::Environment,
    layout::{
        FIRST_LIGHTS, FogMedium, Frame as GpuFrame, LIGHT_LIMIT, Light, OcclusionParams, SHADOW_VIEW_LIMIT,
        ShadowView, ViewRays,
    },
    light::{
        light_tree::{self, LightGrid},
        lights::{self, LightPlan},
    },
    resources::{REFLECTED_BYTES, ReflectionStart, ShadowMaps},
    upload::scene_buffers::SceneBuffers,
    view::{View, aspect, jittered_from_clip},
};
use crate::{
    light::scene_exposure::first_exposure_ev,
    settings::{
        self, Antialias, ImageMode, IndirectLight, OcclusionMode, ReflectionMode, Settings, ShadowMode,
    },
};
use canopy_bvh::{
    Error, Result,
    gpu::{Bind, Gpu, UniformArray, bind_group, library::wgsl_constants},
};
use canopy_scene::{
    AlphaMode, Material, Pose, Projection, Scene,
    bounds::{self, Aabb},
    framing::{Ground, Look},
    opened::OpenedScene,
};
use frame_sample::FrameSample;
use glam::{Mat4, Vec2, Vec3};
use life_cycle::LifeCycle;
use std::{borrow::Cow, ops::Range, rc::Rc, sync::Once};

wgsl_constants! {
    /// [`GpuFrame::shadow_mode`] for shadow maps.
    pub const SHADOWS_MAP: u32 = ShadowMode::Map as u32;
    /// [`GpuFrame::shadow_mode`] for shadow rays.
    pub const SHADOWS_RAYS: u32 = ShadowMode::Rays as u32;
    /// [`GpuFrame::materials_without`]: ignores these textures and vertex colours.
    const MATERIALS_BASE_COLOR_TEXTURE: u32 = 1;
    const MATERIALS_NORMAL_TEXTURE: u32 = 2;
    const MATERIALS_METALLIC_ROUGHNESS_TEXTURE: u32 = 4;
    const MATERIALS_OCCLUSION_TEXTURE: u32 = 8;
    const MATERIALS_EMISSIVE_TEXTURE: u32 = 16;
    const MATERIALS_VERTEX_COLORS: u32 = 32;
    /// Ignores emission.
    const MATERIALS_EMISSION: u32 = 64;
    /// Shows all materials as clay.
    const MATERIALS_CLAY: u32 = 128;
    /// Disables multiple scattering between microfacets.
    const MATERIALS_MULTIPLE_SCATTERING: u32 = 256;
    /// Disables the fade of lights where normal textures turn away from them.
    const MATERIALS_NORMAL_TERMINATOR: u32 = 512;
    /// Starts grazing shadow rays on the triangle instead of on the smooth surface.
    const MATERIALS_SMOOTH_TERMINATOR: u32 = 2048;
    /// Disables the filter that widens highlights beyond their roughness.
    const MATERIALS_GLINT_FILTER: u32 = 1024;
    /// Albedo of the clay, in every channel. Its roughness follows.
    const MATERIALS_CLAY_ALBEDO: f64 = 0.6;
    const MATERIALS_CLAY_ROUGHNESS: f64 = 0.8;
}

/// Returns [`GpuFrame::materials_without`] for these settings.
fn without(settings: &settings::Materials) -> u32 {
    let settings::Materials {
        base_color_texture,
        normal_texture,
        metallic_roughness_texture,
        occlusion_texture,
        emissive_texture,
        vertex_colors,
        emission,
        clay,
        multiple_scattering,
        normal_terminator,
        smooth_terminator,
        glint_filter,
    } = *settings;
    [
        (base_color_texture, MATERIALS_BASE_COLOR_TEXTURE),
        (normal_texture, MATERIALS_NORMAL_TEXTURE),
        (metallic_roughness_texture, MATERIALS_METALLIC_ROUGHNESS_TEXTURE),
        (occlusion_texture, MATERIALS_OCCLUSION_TEXTURE),
        (emissive_texture, MATERIALS_EMISSIVE_TEXTURE),
        (vertex_colors, MATERIALS_VERTEX_COLORS),
        (emission, MATERIALS_EMISSION),
        (!clay, MATERIALS_CLAY),
        (multiple_scattering, MATERIALS_MULTIPLE_SCATTERING),
        (normal_terminator, MATERIALS_NORMAL_TERMINATOR),
        (smooth_terminator, MATERIALS_SMOOTH_TERMINATOR),
        (glint_filter, MATERIALS_GLINT_FILTER),
    ]
    .into_iter()
    .filter(|(is_kept, _)| !is_kept)
    .fold(0, |flags, (_, flag)| flags | flag)
}

/// Offset in sampling dimensions between the lights of consecutive bounces. The dimensions for primary
/// surfaces come first.
const SAMPLE_BOUNCE: u32 = 1024;
const AT_HITS: &str = "frame at hits";
/// Linear colour of the studio backdrop. It is light enough to show shadows, and darker than white objects.
const BACKDROP: [f32; 3] = [0.68; 3];
/// Factor on the backdrop at the zenith.
const BACKDROP_TOP: f32 = 0.75;

/// Inputs of a frame, besides the uploaded scene.
#[derive(Debug, Clone, Copy)]
pub struct FrameInput<'a> {
    /// Scene, as it was uploaded.
    pub scene: &'a Scene,
    /// Pose of its nodes, morph targets and materials.
    pub pose: &'a Pose,
    /// Camera.
    pub view: View,
    /// Rounding error of the eye of `view`, which is in f32: the offset in metres to the exact position. It
    /// is significant far from the world's origin.
    pub eye_rounding: Vec3,
    /// Settings.
    pub config: &'a Settings,
    /// Exposure in stops from the settings. With automatic exposure, it is the exposure of a black picture.
    pub exposure_ev: f32,
    /// Seconds since the last frame of the same scene, for the exposure's adaptation; infinite for the first
    /// frame.
    pub elapsed_secs: f32,
    /// Channel that the picture shows.
    pub channel: Channel,
    /// Width and height in pixels at which the frame is traced and shaded. The target may be larger.
    pub size: [u32; 2],
    /// Ground plane below the scene, if it is visible.
    pub ground: Option<Ground>,
    /// Channels that are going to be read back. [`Channel::Motion`], [`Channel::Cost`],
    /// [`Channel::Deviation`], [`Channel::Intersections`] and, with volumes, [`Channel::Transmittance`] and
    /// [`Channel::Scattered`] are only computed if they are shown or listed in this field.
    pub reads: &'a [Channel],
}

impl<'a> FrameInput<'a> {
    /// Returns the input for the first frame of an opened scene, with `size` pixels and without an
    /// environment file.
    ///
    /// # Errors
    ///
    /// [`canopy_scene::Error::NotFound`] if the settings select a camera that the scene does not have.
    pub fn first(
        opened: &'a OpenedScene,
        settings: &'a Settings,
        size: [u32; 2],
    ) -> canopy_scene::Result<Self> {
        let OpenedScene {
            scene, first, points, ..
        } = opened;
        let aspect = size[0].max(1) as f32 / size[1].max(1) as f32;
        let seen = first.view(scene, points, &Look::default(), &settings.camera, aspect)?;
        let ground = first.ground(settings.scene.ground);
        Ok(Self {
            scene,
            pose: &first.pose,
            view: View::new(&seen.viewpoint, first.bounds, f32::INFINITY, ground.as_ref()),
            eye_rounding: seen.eye_rounding,
            config: settings,
            exposure_ev: first_exposure_ev(scene, first, settings, 0.0, LIGHT_LIMIT as usize),
            elapsed_secs: f32::INFINITY,
            channel: Channel::Lit,
            size,
            ground,
            reads: &[],
        })
    }
}

impl FrameInput<'_> {
    /// True if a channel is shown or going to be read back.
    pub fn needs_channel(&self, channel: Channel) -> bool {
        self.channel == channel || self.reads.contains(&channel)
    }
}

/// Rendering method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Integrator {
    /// Deferred passes over the G-buffer, with rays for shadows, ambient light and reflections.
    Hybrid,
    /// Path tracing, the reference.
    Paths {
        /// Range of sample indices that frames accumulate; `None` for as many as the settings request.
        samples: Option<Range<u32>>,
        /// Samples per pixel that this frame adds.
        added: u32,
    },
}

/// Values that are determined before the first pass.
///
/// Coordinates are world space with the origin moved to [`SceneBuffers::origin`].
#[derive(Debug)]
pub struct FrameSetup<'a> {
    /// Scene.
    pub scene: &'a Scene,
    /// Scene in GPU memory.
    pub buffers: &'a SceneBuffers,
    /// Pose.
    pub pose: Cow<'a, Pose>,
    /// Camera.
    pub view: View,
    /// Settings. If the sky takes its sun from the scene, they contain that sun.
    pub config: Cow<'a, Settings>,
    /// Lights of the frame. `Shadows::fit_maps` assigns their shadow views.
    pub lights: Vec<Light>,
    /// Bounding boxes of all parts, in the order of [`Bounds::parts`](canopy_scene::bounds::Bounds::parts).
    pub parts: Vec<Aabb>,
    /// Bounding box of the scene.
    pub bounds: Aabb,
    /// Ground plane below the scene.
    pub ground: Option<Ground>,
    /// Index of this frame within a supersampled picture.
    pub sample: FrameSample,
    /// Rendering method.
    pub integrator: Integrator,
    /// [`FrameInput::channel`].
    pub channel: Channel,
    /// [`FrameInput::reads`].
    pub reads: &'a [Channel],
    /// [`FrameInput::size`].
    pub size: [u32; 2],
    /// [`FrameInput::exposure_ev`].
    pub exposure_ev: f32,
    /// Number of light slots per pixel, and of shadow rays per light.
    pub light_plan: LightPlan,
    /// True if rays sample ambient occlusion.
    pub samples_occlusion: bool,
    /// Occlusion rays per pixel; 0 if none are traced.
    pub occlusion_rays: u32,
    /// Light that the hits of these rays reflect.
    pub bounced: Bounced,
    /// True if reflection rays are traced.
    pub traces_reflections: bool,
    /// True if reflection rays are traced from blended surfaces too.
    pub traces_blended: bool,
    /// True if shadow rays to area lights are averaged over frames and neighbours.
    pub filters_shadows: bool,
    /// Number of earlier frames. This frame's rays take the next points of the sampling sequence.
    pub sample_index: u32,
    /// Anti-aliasing method: never `auto`, and off for channels.
    pub antialias: Antialias,
    /// Bias on the mip level of textures.
    pub texture_bias: f32,
    /// Sub-pixel jitter from the pixel centres, in pixels, y down.
    pub jitter: Vec2,
    /// [`FrameInput::elapsed_secs`].
    pub elapsed_secs: f32,
    /// True if motion vectors are needed.
    pub motion: bool,
    /// True if the nodes and triangles that shadow rays visit are counted.
    pub counts_cost: bool,
}

/// Light that the hits of a frame's occlusion rays reflect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounced {
    /// None.
    Off,
    /// Direct light of lights.
    Lights,
    /// All light: direct light of lights, and the rest from the world cache.
    Cells,
    /// All light, by the path tracer.
    Paths,
}

impl Bounced {
    /// Returns the light that bounces in a frame. Still pictures of several samples use no cache, so that they
    /// converge. Rays of a limited length do not find all light.
    fn new(input: &FrameInput<'_>, config: &Settings, sample: FrameSample, lights: &[Light]) -> Self {
        let settings = &config.occlusion;
        let is_still = input.channel == Channel::Lit && sample.count > 1;
        match settings.bounce {
            _ if !settings.sends_rays() => Self::Off,
            IndirectLight::Full if settings.radius == 0.0 => match is_still {
                true => Self::Paths,
                false => Self::Cells,
            },
            IndirectLight::Off => Self::Off,
            _ if lights.is_empty() => Self::Off,
            _ => Self::Lights,
        }
    }

    /// True if all light that bounces is found.
    pub fn is_full(self) -> bool {
        matches!(self, Self::Cells | Self::Paths)
    }
}

impl<'a> FrameSetup<'a> {
    /// Moves the origin, finds the sun and the lights, and computes the scene's bounds. The settings of
    /// `input` are resolved. `frames` is the number of frames drawn before, and `shown` the size of the
    /// picture in pixels.
    pub fn new(
        gpu: &Gpu,
        input: &FrameInput<'a>,
        buffers: &'a SceneBuffers,
        (integrator, sample): (Integrator, FrameSample),
        (frames, shown): (u32, [u32; 2]),
        environment: &Environment,
    ) -> Result<Self> {
        let origin = buffers.origin;
        let pose = if origin == Vec3::ZERO {
            Cow::Borrowed(input.pose)
        } else {
            Cow::Owned(input.pose.translated(-origin.as_dvec3()))
        };
        let parts = buffers.bounds.parts(input.scene, &pose);
        let bounds = bounds::parts_bounds(input.scene, &pose, &parts);
        let mut lights = lights::gather(input.scene, &pose, input.config, bounds.radius());
        let config = match lights::with_scene_sun(input.scene, &lights, input.config) {
            Some(config) => Cow::Owned(config),
            None => Cow::Borrowed(input.config),
        };
        if let Some(sun) = environment.file_sun(&config) {
            lights::add_sun(&mut lights, &sun, &config);
        }
        let antialias = match input.channel {
            Channel::Lit => config.image.antialias,
            _ => Antialias::Off,
        };
        let is_temporal = antialias == Antialias::Temporal;
        let shadows_are_traced = config.shadows.mode == ShadowMode::Rays;
        let light_plan = LightPlan::new(&lights, &config.shadows);
        if light_plan.has_tree() {
            light_tree::sort(&mut lights);
        }
        let samples_occlusion = config.occlusion.sends_rays();
        let traces_reflections = traces_reflections(gpu, input);
        let has_history = samples_occlusion
            || (config.reflections.averages() && traces_reflections)
            || (config.shadows.averages() && lights::may_cast_soft_shadows(input.scene, input.config));
        Ok(Self {
            scene: input.scene,
            buffers,
            bounds,
            parts,
            ground: input.ground.map(|ground| ground.translated(-origin)),
            light_plan,
            samples_occlusion,
            occlusion_rays: match samples_occlusion {
                true => config.occlusion.rays,
                false => 0,
            },
            bounced: Bounced::new(input, &config, sample, &lights),
            traces_reflections,
            traces_blended: traces_reflections
                && may_reflect(input.scene, input.pose, input.config, |material| {
                    material.alpha_mode == AlphaMode::Blend
                }),
            filters_shadows: config.shadows.averages() && light_plan.is_soft && !light_plan.chooses(),
            // The frames of a supersampled picture have a sampling sequence of their own, so that the picture
            // does not depend on the frames drawn before.
            sample_index: if sample.count > 1 { sample.index } else { frames },
            antialias,
            texture_bias: match sample.count {
                1 if is_temporal => -(shown[1] as f32 / input.size[1] as f32).log2(),
                // Each of n samples stands for 1 / n of the pixel.
                count => -0.5 * (count.min(sample.filtered_for()) as f32).log2(),
            },
            jitter: match sample.count {
                1 if is_temporal => FrameSample::point(frames),
                1 => Vec2::ZERO,
                _ => FrameSample::point(sample.index),
            },
            pose,
            view: input.view.translated(-origin).translated(input.eye_rounding),
            config,
            lights,
            integrator,
            sample,
            channel: input.channel,
            reads: input.reads,
            size: input.size.map(|side| side.max(1)),
            exposure_ev: input.exposure_ev,
            elapsed_secs: input.elapsed_secs,
            motion: input.needs_channel(Channel::Motion) || has_history || is_temporal,
            counts_cost: input.needs_channel(Channel::Cost) && shadows_are_traced,
        })
    }

    /// True if a channel is shown or going to be read back.
    pub fn needs_channel(&self, channel: Channel) -> bool {
        self.channel == channel || self.reads.contains(&channel)
    }

    /// True if blended triangles, lines or points are drawn over the G-buffer's surfaces.
    pub fn draws_blended(&self) -> bool {
        let draws = &self.buffers.draws;
        let triangles = draws.blended_runs(self.traces_reflections);
        let segments = draws.blended_segments.iter().map(|run| run.part);
        let mut parts = triangles.map(|(_, part)| *part).chain(segments);
        parts.any(|part| !self.parts[part].is_empty())
    }

    /// Returns the radiance that is displayed like an unlit colour of 1.
    pub fn unlit_radiance(&self) -> f32 {
        (-self.exposure_ev).exp2()
    }

    /// Returns the aspect ratio, width over height.
    pub fn aspect(&self) -> f32 {
        aspect(self.size)
    }

    /// Returns the matrix to jittered clip space from world-space offsets relative to the eye.
    pub fn clip_from_offset(&self) -> Mat4 {
        jittered_from_clip(self.jitter, self.size) * self.view.clip_from_offset(self.aspect())
    }

    /// Returns the camera rays through the jittered sample positions of the pixels.
    pub fn rays(&self) -> ViewRays {
        self.view.rays(self.jitter, self.size)
    }

    /// Returns the scattering properties of the fog.
    pub fn fog_medium(&self) -> FogMedium {
        let fog = &self.config.fog;
        FogMedium {
            albedo: fog.albedo,
            anisotropy: fog.anisotropy,
            origin: self.buffers.origin.to_array(),
            noise_scale: 1.0 / fog.noise_size,
        }
    }

    /// True if the picture shows the lit scene rather than a channel.
    pub fn is_lit(&self) -> bool {
        self.channel == Channel::Lit
    }

    /// True if the background is transparent. Radiance and colours are then premultiplied with their alpha.
    pub fn is_transparent(&self) -> bool {
        self.config.environment.background == settings::Background::Transparent
    }

    /// True if volumes attenuate shadow-mapped lights.
    pub fn maps_volumes(&self) -> bool {
        let volumes = &self.config.volumes;
        self.config.shadows.mode == ShadowMode::Map
            && (volumes.enabled && volumes.shadows)
            && self.buffers.has_volumes()
    }

    /// True if a pass reads the path tracer's table: for the whole picture, or for bounced light.
    pub fn needs_path_table(&self) -> bool {
        matches!(self.integrator, Integrator::Paths { .. }) || self.bounced.is_full()
    }

    /// True if the picture is the mean of several frames.
    pub fn accumulates(&self) -> bool {
        self.is_lit() && self.sample.count > 1
    }
}

/// Frame whose uniforms have been written.
#[derive(Debug, Clone)]
pub struct Frame<'a> {
    /// Bind group of [`Layouts::frame`]: group 0 of the passes that read the frame's uniforms.
    pub group: wgpu::BindGroup,
    /// Bind groups for the passes over hits of reflection rays, one for each bounce. The groups of rays from
    /// blended surfaces follow.
    hit_groups: Rc<[wgpu::BindGroup]>,
    prepared: Rc<FrameSetup<'a>>,
}

impl Frame<'_> {
    /// Returns the parameters for `rays` occlusion rays per pixel in frame `index` since the history began.
    pub fn occlusion_params(&self, index: u32, rays: u32) -> OcclusionParams {
        /// Length of unlimited rays.
        const FAR: f32 = 1e30;
        OcclusionParams {
            index,
            rays,
            reach: match self.config.occlusion.radius {
                0.0 => FAR,
                radius => radius,
            },
            // The closest hit of one ray is stored, of a different ray each frame. The others are any-hit
            // rays, which are cheaper.
            recorded_ray: match self.bounced {
                Bounced::Off => u32::MAX,
                _ => index % rays,
            },
            starts_paths: u32::from(self.bounced == Bounced::Paths),
        }
    }

    /// Returns the frame with the uniforms for the hits of each bounce.
    pub fn at_hits(&self, start: ReflectionStart) -> impl Iterator<Item = Self> {
        self.hit_groups_of(start).iter().map(|group| Self {
            group: group.clone(),
            ..self.clone()
        })
    }

    /// Returns the frame with the uniforms for the surfaces where the rays of a bounce start: primary
    /// surfaces, then the hits of the previous bounce.
    pub fn at_bounce(&self, start: ReflectionStart, bounce: u32) -> Self {
        let before = bounce.checked_sub(1).map(|before| before as usize);
        let group = before.and_then(|before| self.hit_groups_of(start).get(before));
        Self {
            group: group.unwrap_or(&self.group).clone(),
            ..self.clone()
        }
    }

    fn hit_groups_of(&self, start: ReflectionStart) -> &[wgpu::BindGroup] {
        let bounces = self.config.reflections.bounces as usize;
        let mut starts = self.hit_groups.chunks(bounces.max(1));
        starts.nth(start as usize).unwrap_or(&[])
    }
}

impl<'a> std::ops::Deref for Frame<'a> {
    type Target = FrameSetup<'a>;

    fn deref(&self) -> &FrameSetup<'a> {
        &self.prepared
    }
}

/// Returns the settings that a frame is drawn with, resolved as by [`resolved_for`]. Path tracing disables
/// the passes of [`Integrator::Hybrid`].
pub(super) fn drawn_settings(gpu: &Gpu, input: &FrameInput<'_>) -> Settings {
    let mut config = resolved_for(gpu, input.scene, input.config);
    if is_path_traced(&config, input.channel) {
        config.shadows.mode = ShadowMode::Off;
        config.occlusion.mode = OcclusionMode::Off;
        config.reflections.mode = ReflectionMode::Off;
        config.image.antialias = Antialias::Off;
        config.depth_of_field.enabled = false;
    }
    config
}

/// Resolves `auto` for the scene's environment, and everything else for the adapter ([`Settings::resolved`]).
pub(super) fn resolved_for(gpu: &Gpu, scene: &Scene, config: &Settings) -> Settings {
    config.adapted_to(scene).resolved((&gpu.capabilities).into())
}

/// True if a frame that shows `channel` is path-traced.
pub fn is_path_traced(config: &Settings, channel: Channel) -> bool {
    config.image.mode == ImageMode::Path && channel == Channel::Lit
}

/// True if reflection rays are traced: the settings enable them, a material may reflect, and a storage
/// binding can hold the output. If it cannot, a warning is logged once.
fn traces_reflections(gpu: &Gpu, input: &FrameInput<'_>) -> bool {
    const SHOWS: [Channel; 3] = [
        Channel::Reflection,
        Channel::ReflectionDistance,
        Channel::ReflectionTiles,
    ];
    let FrameInput {
        scene, pose, config, ..
    } = *input;
    let is_wanted = config.reflections.sends_rays()
        && (may_reflect(scene, pose, config, |_| true)
            || SHOWS.into_iter().any(|shown| input.needs_channel(shown)));
    let fits = fits_reflections(gpu, input.size);
    if is_wanted && !fits {
        static TOO_LARGE: Once = Once::new();
        let [width, height] = input.size;
        TOO_LARGE.call_once(|| {
            log::warn!("{width} × {height} pixels are too many for reflections by rays");
        });
    }
    is_wanted && fits
}

/// True if any material that satisfies `filter` is smooth enough to cast reflection rays.
pub fn may_reflect(
    scene: &Scene,
    pose: &Pose,
    config: &Settings,
    filter: impl Fn(&Material) -> bool,
) -> bool {
    // The roughness of a coat is stored in eight bits.
    let below = config.reflections.below() + 5e-3;
    let moved = pose.materials.iter().map(|(_, material)| material);
    let mut materials = scene.materials.iter().chain(moved);
    materials.any(|material| filter(material) && material.least_roughness() < below)
}

/// True if a storage binding can hold the reflections of the picture. Larger pictures are drawn without
/// reflections.
fn fits_reflections(gpu: &Gpu, [width, height]: [u32; 2]) -> bool {
    REFLECTED_BYTES * u64::from(width) * u64::from(height) <= gpu.binding_limit()
}

/// Returns [`Error::Limit`] if a side of the picture exceeds the adapter's texture limit.
pub fn check_size(gpu: &Gpu, size: [u32; 2]) -> Result<()> {
    let allowed = gpu.limits.max_texture_dimension_2d;
    if size[0].max(size[1]) <= allowed {
        return Ok(());
    }
    Err(Error::Limit {
        what: "the picture".into(),
        needed: format!("{} × {} pixels", size[0], size[1]),
        allowed: format!("{allowed} a side"),
        by: format!("texture limit of {}", gpu.info.name),
    })
}

/// Uniform buffers of group 0.
#[derive(Debug)]
pub struct FrameUniforms {
    frame: wgpu::Buffer,
    /// Frame uniforms for the hits of each bounce.
    at_hits: UniformArray<GpuFrame>,
    lights: wgpu::Buffer,
    shadow_views: wgpu::Buffer,
    blue_noise: wgpu::Buffer,
}

impl LifeCycle for FrameUniforms {}

impl FrameUniforms {
    /// Creates zeroed buffers.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if they exceed the device's buffer size.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let uniform = |label: &str, count: u32, bytes: usize| {
            gpu.buffer(
                label,
                u64::from(count) * bytes as u64,
                wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            )
        };
        let at_hits = std::iter::empty::<GpuFrame>();
        Ok(Self {
            frame: uniform("frame", 1, size_of::<GpuFrame>()),
            at_hits: UniformArray::new(gpu, AT_HITS, at_hits)?,
            lights: uniform("lights", FIRST_LIGHTS, size_of::<Light>()),
            blue_noise: gpu.buffer_with(
                "blue_noise",
                bytemuck::cast_slice::<u16, u8>(blue_noise::mask()),
                wgpu::BufferUsages::UNIFORM,
            ),
            shadow_views: uniform("shadow_views", SHADOW_VIEW_LIMIT, size_of::<ShadowView>()),
        })
    }

    /// Writes the uniforms of a frame and binds them, together with the environment and the shadow maps of
    /// its lights.
    pub fn write<'a>(
        &mut self,
        gpu: &Gpu,
        layouts: &Layouts,
        prepared: FrameSetup<'a>,
        environment: &Environment,
        shadow_maps: ShadowMaps<'_>,
    ) -> Result<Frame<'a>> {
        let input = &prepared;
        let (config, lights) = (&*input.config, &input.lights);
        let placement = environment.place(config, lights::has_sun(input.scene, config));
        let frame = GpuFrame {
            clip_from_offset: input.clip_from_offset().to_cols_array_2d(),
            eye: input.view.eye().to_array(),
            light_count: lights.len() as u32,
            forward: input.view.forward().to_array(),
            leaf_cutoff: config.tree.leaf_cutoff.max(1),
            rays: input.rays(),
            shadow_mode: config.shadows.mode as u32,
            pcf_width: config.shadows.map_pcf_width.max(1),
            blended_cast: u32::from(config.shadows.blended_cast),
            background: match config.environment.background {
                settings::Background::Transparent => [0.0; 3],
                settings::Background::Color => config.image.background,
                settings::Background::Environment => BACKDROP,
            },
            backdrop_top: match config.environment.background {
                settings::Background::Environment => BACKDROP_TOP,
                _ => 1.0,
            },
            background_blur: config.environment.blur,
            to_sun: placement.to_sun.to_array(),
            environment_scale: placement.scale,
            sun_disc: placement.sun_disc.to_array(),
            sun_horizon: placement.sun_horizon,
            shows_environment: u32::from(config.environment.is_visible()),
            environment_turn: placement.turn.to_array(),
            size: input.size,
            depth_bias: config.shadows.map_depth_bias,
            normal_bias: config.shadows.map_normal_bias,
            orthographic: u32::from(matches!(input.view.projection, Projection::Orthographic { .. })),
            occlusion: u32::from(input.samples_occlusion),
            all_bounces: u32::from(input.bounced.is_full()),
            light_candidates: input.light_plan.candidates,
            distant_lights: light_tree::distant(lights) as u32,
            lights_word: input.buffers.materials.lights_word,
            light_grid: match input.light_plan.has_tree() {
                true => LightGrid::new(lights).uniform(),
                false => [0.0; 4],
            },
            light_slots: input.light_plan.slots,
            light_rays: input.light_plan.rays,
            sample_index: input.sample_index,
            cut_out_index: if input.jitter == Vec2::ZERO {
                0
            } else {
                input.sample_index
            },
            pixel_side: input.view.pixel_side(input.size[1]),
            sun_radius: placement
                .sun_radius
                .unwrap_or_else(|| lights::sun_disc_radius(&config.sun)),
            texture_bias: input.texture_bias,
            ground_albedo: config.environment.ground_albedo,
            counts_cost: u32::from(input.counts_cost),
            reflect_below: match input.traces_reflections {
                true => config.reflections.below(),
                false => 0.0,
            },
            unlit_radiance: input.unlit_radiance(),
            materials_without: without(&config.materials),
            fog_density: config.fog.density,
            fog_base: config.fog.height - input.buffers.origin.y,
            fog_falloff: config.fog.height_falloff,
            fog_noise: config.fog.noise,
            volume_shadows: u32::from(input.maps_volumes()),
            edge_light_rays: input.light_plan.edge_rays,
            ..GpuFrame::default()
        };
        let bounces = match input.traces_reflections {
            true => config.reflections.bounces,
            false => 0,
        };
        let blended = input.buffers.blended().next().map(|_| ReflectionStart::Blended);
        let starts = std::iter::once(ReflectionStart::Solid).chain(blended);
        let at_bounces = starts.flat_map(|start| (1..=bounces).map(move |bounce| (start, bounce)));
        let at_hits = at_bounces.map(|(start, bounce)| GpuFrame {
            at_hits: 1,
            counts_cost: 0,
            volume_shadows: 0,
            first_dimension: (bounce + start as u32 * bounces) * SAMPLE_BOUNCE,
            reflect_below: if bounce < bounces {
                frame.reflect_below
            } else {
                0.0
            },
            ..frame
        });
        let at_hits: Vec<_> = at_hits.collect();
        self.at_hits.write_all(gpu, AT_HITS, &at_hits)?;
        gpu.queue.write_buffer(&self.frame, 0, bytemuck::bytes_of(&frame));
        let first = lights::first(lights, &input.light_plan);
        let first: Vec<Light> = first.into_iter().map(|index| lights[index]).collect();
        gpu.queue
            .write_buffer(&self.lights, 0, bytemuck::cast_slice(&first));
        gpu.queue
            .write_buffer(&self.shadow_views, 0, bytemuck::cast_slice(shadow_maps.views));
        let group = |frame: &dyn Bind| {
            let own: &[&dyn Bind] = &[
                frame,
                &self.lights,
                &self.shadow_views,
                shadow_maps.depth,
                shadow_maps.sampler,
                &environment.project_sh.result,
                &environment.brdf_table.buffer,
                &environment.prefiltered().view,
                &environment.sampler,
                &self.blue_noise,
            ];
            bind_group(gpu, "frame", &layouts.frame, own)
        };
        Ok(Frame {
            group: group(&self.frame),
            hit_groups: (0..at_hits.len())
                .map(|bounce| group(&self.at_hits.at(bounce)))
                .collect(),
            prepared: Rc::new(prepared),
        })
    }
}
