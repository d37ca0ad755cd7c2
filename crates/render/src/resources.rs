//! Resources that passes share. One pass creates and owns each of them. Later passes read it or draw into it.

use super::{
    aov::Heat,
    frame::recording::Recording,
    layout::{FogParams, MotionParams, OcclusionParams, SHADOW_HEADER, ShadowView},
    upload::scene_buffers::SceneBuffers,
};
use canopy_bvh::{
    Error, Result,
    accel::{RayNodes, Tree},
    gpu::{
        Array, Arrays, Bind, Gpu, GpuImage, Uniform,
        pass::{self, Binding},
    },
};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format, TextureUsages as Usage};

/// Maximum history length in frames while something moves. Disoccluded areas have to brighten and newly
/// covered areas have to darken quickly.
const MOVING_HISTORY: u32 = 8;

/// Format of the reprojected pixels of the last frame: denoise/reprojected.wgsl.
pub const REPROJECTED_FORMAT: Format = Format::Rg32Uint;
/// Format of the surfaces that denoised signals belong to: `SignalSurface` in denoise/signal.wgsl.
pub const SURFACES_FORMAT: Format = Format::Rgba32Uint;

/// Format of the noisy input of the denoiser, which ray-tracing passes write: one word per layer, two layers
/// per signal.
pub const NOISY_FORMAT: Format = Format::R32Uint;
/// Format of the tile masks of `shadow_shafts`.
pub const TILES_FORMAT: Format = Format::Rg32Uint;

/// Size of an image that is bound but unused. Like most images, it has no side that is a power of two. Mesa's
/// llvmpipe compiles a new variant of a kernel if a side changes between a power of two and any other size.
pub const UNUSED: [u32; 2] = [3, 3];
/// Layers of an array image that is bound but unused. Mesa's llvmpipe compiles a kernel again for arrays of
/// one layer.
pub fn unused_layers(gpu: &Gpu) -> u32 {
    match gpu.capabilities.arrays {
        Arrays::Textures => 2,
        Arrays::Buffers => 1,
    }
}

/// Binding of the G-buffer's positions, or of displacements.
pub const POSITIONS: Binding = Binding::Texels(POSITION_FORMAT);
/// Binding of any other image of the G-buffer.
pub const WORDS: Binding = Binding::Texels(WORD_FORMAT);
/// Binding of the reprojected pixels of the last frame.
pub const REPROJECTED: Binding = Binding::Texels(REPROJECTED_FORMAT);
/// Binding of the surfaces of this frame or the last.
pub const SURFACES: Binding = Binding::Texels(SURFACES_FORMAT);
/// Binding of the denoiser's noisy input, and of shadow edges.
pub const NOISY: Binding = Binding::TexelsArray(NOISY_FORMAT);
/// Binding of the tile masks of `shadow_shafts`.
pub const TILES: Binding = Binding::Texels(TILES_FORMAT);

pub use super::formats::{
    DEPTH_FORMAT, HDR_FORMAT, LOBE_FORMATS, PICTURE_FORMAT, POSITION_FORMAT, WORD_FORMAT,
};
pub(super) use super::formats::{drawn_position_format, gbuffer_targets};

/// Merged triangles in world space at this frame's pose: written by `deform`.
#[derive(Debug, Clone, Copy)]
pub struct Geometry<'a> {
    /// Bind group of `Layouts::scene`: group 2 of the passes that read triangles.
    pub group: &'a wgpu::BindGroup,
    /// Merged buffers and their draw lists.
    pub buffers: &'a SceneBuffers,
}

/// BVHs over that geometry: built by `lbvh`.
#[derive(Debug, Clone, Copy)]
pub struct Trees<'a> {
    /// Makes the nodes for rays.
    pub(crate) ray_nodes: &'a RayNodes,
    /// Bind group of `Layouts::tree` with these nodes, which may be stale.
    pub(crate) ray_group: &'a wgpu::BindGroup,
    /// Leaf cutoff of rays, in triangles.
    pub(crate) leaf_cutoff: u32,
    /// Bind group of `Layouts::tree`: group 1 of other passes that traverse the BVHs.
    pub group: &'a wgpu::BindGroup,
    /// The scene's tree.
    pub tree: &'a Tree,
}

impl<'a> Trees<'a> {
    /// Returns the bind group of `Layouts::tree` with the nodes for rays: group 1 of the passes that trace rays.
    /// Records these nodes if they are stale. So a frame without rays does not make them.
    ///
    /// # Errors
    ///
    /// Any error of [`RayNodes::record`].
    pub fn rays(&self, recording: &mut Recording<'_>) -> Result<&'a wgpu::BindGroup> {
        self.record_ray_nodes(recording)?;
        Ok(self.ray_group)
    }

    /// Records the nodes for rays if they are stale, for passes that bind [`Tree::ray_bindings`] themselves.
    ///
    /// # Errors
    ///
    /// Any error of [`RayNodes::record`].
    pub fn record_ray_nodes(&self, recording: &mut Recording<'_>) -> Result<()> {
        let scope = &mut recording.scope;
        self.ray_nodes
            .record(recording.gpu, scope, self.tree, self.leaf_cutoff)
    }
}

/// Shadow maps and their cameras: drawn by `shadow_map`.
#[derive(Debug, Clone, Copy)]
pub struct ShadowMaps<'a> {
    /// All layers of the shadow maps.
    pub depth: &'a wgpu::TextureView,
    /// Comparison sampler.
    pub sampler: &'a wgpu::Sampler,
    /// Camera of each layer that is drawn.
    pub views: &'a [ShadowView],
}

/// G-buffer: written by `gbuffer` and `points_lines`.
#[derive(Debug)]
pub struct GBuffer {
    /// Depth or world position (frame/gbuffer_position.wgsl), roughness and metalness.
    pub position: GpuImage,
    /// World normal.
    pub normal: GpuImage,
    /// Base colour and the material's occlusion.
    pub albedo: GpuImage,
    /// Emitted radiance.
    pub emissive: GpuImage,
    /// Index of the triangle plus 1, or the point or line (frame/gbuffer.wgsl).
    pub ids: GpuImage,
    /// Reversed depth.
    pub depth: GpuImage,
}

impl GBuffer {
    /// Creates empty render targets of `size` pixels.
    pub fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        Self::with_usage(
            gpu,
            size,
            drawn_position_format(gpu),
            Usage::RENDER_ATTACHMENT,
            size,
        )
    }

    fn with_usage(gpu: &Gpu, size: [u32; 2], position: Format, usage: Usage, depth_size: [u32; 2]) -> Self {
        let image = |label, format| {
            let usage = usage | Usage::TEXTURE_BINDING;
            GpuImage::new(gpu, label, size, format, usage)
        };
        Self {
            position: image("position", position),
            normal: image("normal", WORD_FORMAT),
            albedo: image("albedo", WORD_FORMAT),
            emissive: image("emissive", WORD_FORMAT),
            ids: GpuImage::new(
                gpu,
                "ids",
                size,
                WORD_FORMAT,
                usage | Usage::TEXTURE_BINDING | Usage::STORAGE_BINDING | Usage::COPY_SRC,
            ),
            depth: GpuImage::new(
                gpu,
                "depth",
                depth_size,
                DEPTH_FORMAT,
                Usage::RENDER_ATTACHMENT | Usage::COPY_SRC | Usage::COPY_DST,
            ),
        }
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.position.size()
    }

    /// Returns the colour attachments, in the order of `gbuffer_targets`.
    pub fn attachments(
        &self,
        load: wgpu::LoadOp<wgpu::Color>,
    ) -> [Option<wgpu::RenderPassColorAttachment<'_>>; 5] {
        let images = [
            &self.position,
            &self.normal,
            &self.albedo,
            &self.emissive,
            &self.ids,
        ];
        images.map(|image| Some(pass::color(&image.view, load)))
    }
}

/// Hits of each pixel's reflection ray: written by `reflection_rays` and `reflection_surface`.
#[derive(Debug)]
pub struct Hits {
    /// G-buffer of the hits. Its depth image is a single texel.
    pub gbuffer: GBuffer,
    /// Three layers: triangles, rays and ambient visibility (reflections/reflection_ray.wgsl).
    pub found: GpuImage,
    /// Lobes of layered materials, if the scene has any.
    pub lobes: Lobes,
}

impl Hits {
    /// Creates images for the hits of `size` pixels, and for lobes of `lobes_size` pixels.
    pub fn new(gpu: &Gpu, size: [u32; 2], lobes_size: [u32; 2]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        Self {
            gbuffer: GBuffer::with_usage(gpu, size, POSITION_FORMAT, Usage::STORAGE_BINDING, [1, 1]),
            found: GpuImage::with_layers(gpu, "hits.found", size, 3, Format::Rgba32Uint, usage),
            lobes: Lobes::new(gpu, lobes_size, Usage::STORAGE_BINDING),
        }
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.found.size()
    }
}

/// Lobes of layered materials, from which their rays are sampled: written by `lobes`, and for hits by
/// `reflection_lobes`.
#[derive(Debug)]
pub struct Lobes {
    /// Coat, sheen and base lobes (material/lobes.wgsl).
    pub layers: GpuImage,
    /// Transmission lobe.
    pub glass: GpuImage,
}

impl Lobes {
    /// Creates empty images of `size` pixels that are written by `usage`.
    pub fn new(gpu: &Gpu, size: [u32; 2], usage: Usage) -> Self {
        let image = |label, index: usize| {
            let usage = usage | Usage::TEXTURE_BINDING;
            GpuImage::new(gpu, label, size, LOBE_FORMATS[index], usage)
        };
        Self {
            layers: image("lobes.layers", 0),
            glass: image("lobes.glass", 1),
        }
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.layers.size()
    }
}

/// Kind of primary surfaces from which reflection rays start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReflectionStart {
    /// Surfaces in the G-buffer.
    Solid,
    /// Front-most blended surfaces.
    Blended,
}

/// Bytes per pixel in [`ReflectedRadiance::words`].
pub const REFLECTED_BYTES: u64 = 8;

/// Reflected radiance of each pixel: written by the reflection passes.
#[derive(Debug)]
pub struct ReflectedRadiance {
    /// Two words per pixel (reflections/reflected.wgsl).
    pub words: wgpu::Buffer,
    size: Option<[u32; 2]>,
}

impl ReflectedRadiance {
    /// Creates a zeroed buffer for `size` pixels, or for a single one if no rays are traced.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the buffer exceeds the adapter's storage binding size.
    pub fn new(gpu: &Gpu, size: Option<[u32; 2]>) -> Result<Self> {
        let [width, height] = size.unwrap_or([1, 1]);
        let bytes = REFLECTED_BYTES * u64::from(width) * u64::from(height);
        let what = format!("the reflections of {width} × {height} pixels");
        gpu.check_binding(&what, bytes)?;
        let usage = Buffer::STORAGE | Buffer::COPY_SRC;
        Ok(Self {
            words: gpu.buffer("reflected_words", bytes, usage),
            size,
        })
    }

    /// Returns the width and height in pixels, or `None` if no rays are traced.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.size
    }
}

/// Motion of each pixel's surface since the last frame: written by `motion`.
#[derive(Debug, Clone, Copy)]
pub struct Motion<'a> {
    /// Cameras of this frame and the last one.
    pub params: &'a Uniform<MotionParams>,
    /// World-space displacement of each pixel's surface. It is only valid if the parameters say that anything
    /// moved.
    pub displacement: &'a GpuImage,
    /// Merged positions of the last frame, if anything has moved since.
    pub last_positions: Option<&'a Array>,
}

/// Reprojection of each pixel's surface into the last frame: computed by `reproject`.
#[derive(Debug, Clone, Copy)]
pub struct Reprojection<'a> {
    /// Reprojected pixels of the last frame and their weights.
    pub reprojected: &'a GpuImage,
    /// Surfaces of this frame.
    pub surfaces: &'a GpuImage,
    /// Surfaces of the last frame.
    pub last_surfaces: &'a GpuImage,
    /// Frames since the history began.
    pub index: u32,
    /// Frames since the scene last stopped moving, or since the history began.
    pub since_rest: u32,
    /// True if anything in the scene has moved since the last frame.
    pub moves: bool,
}

impl Reprojection<'_> {
    /// Returns the maximum history length in frames, without this one, for a signal that averages `frames`
    /// frames and detects changes itself.
    pub fn max_history(&self, frames: u32) -> u32 {
        (frames - 1).min(self.index)
    }

    /// Returns the maximum history length in frames, without this one, for a signal that averages `frames`
    /// frames and does not detect changes. It is short while something moves. Once everything is still,
    /// frames from before that are dropped.
    pub fn max_history_in_motion(&self, frames: u32) -> u32 {
        let most = if self.moves { MOVING_HISTORY } else { frames };
        (frames.min(most) - 1).min(self.since_rest)
    }
}

/// Shadow rays of the primary surfaces or of the hits of reflections.
#[derive(Clone, Copy)]
pub struct ShadowJob<'a> {
    /// Label of the passes that trace the rays.
    pub label: &'static str,
    /// Surfaces that the rays start from.
    pub gbuffer: &'a GBuffer,
    /// Output of the rays.
    pub visibility: &'a Visibility,
    /// Reprojected pixels of the last frame, its shadow edges, and the tiles in which something has changed.
    pub edges: [&'a dyn Bind; 3],
}

impl std::fmt::Debug for ShadowJob<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShadowJob")
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

/// Visible surfaces, their motion and their reprojection.
#[derive(Debug, Clone, Copy)]
pub struct VisibleSurfaces<'a> {
    /// G-buffer of the surfaces.
    pub gbuffer: &'a GBuffer,
    /// Motion since the last frame.
    pub motion: Motion<'a>,
    /// Reprojection into the last frame.
    pub history: Reprojection<'a>,
}

/// Visibility of the lights at each pixel: written by the shadow passes.
#[derive(Debug)]
pub struct Visibility {
    /// Counters, visibility, costs and chosen lights (shadow/shadow_words.wgsl). If no shadow rays are
    /// traced, the counters only.
    pub words: wgpu::Buffer,
    /// Noisy input of the shadow denoiser, one layer per slot; unused without it. Once anything moves, one
    /// more layer per slot follows with the index plus 1 of the triangle that blocks the light.
    pub blocked: GpuImage,
    plan: VisibilityPlan,
}

/// Layout of [`Visibility`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibilityPlan {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Light slots of a pixel for shadow rays, if any are traced.
    pub traced_slots: Option<u32>,
    /// Light slots of a pixel without shadow rays, for chosen lights and, with shadow maps, for the
    /// transmittance of volumes.
    pub untraced_slots: Option<u32>,
    /// True if there are more lights than slots.
    pub chooses: bool,
    /// True if visited nodes and triangles are counted.
    pub counts_cost: bool,
    /// True if the rays are denoised.
    pub filters: bool,
    /// True if the triangles that block the rays are recorded.
    pub keeps_blockers: bool,
}

impl Visibility {
    /// Creates zeroed resources for `plan`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the buffer exceeds the adapter's storage binding size.
    pub fn new(gpu: &Gpu, plan: VisibilityPlan) -> Result<Self> {
        let [width, height] = plan.size;
        let pixels = u64::from(width) * u64::from(height);
        let cost = if plan.counts_cost { 2 * pixels } else { 0 };
        let lights = plan.slots();
        let chosen = if plan.chooses {
            pixels * u64::from(lights)
        } else {
            0
        };
        let bytes = 4 * (u64::from(SHADOW_HEADER) + plan.words() + cost + chosen);
        let what = format!("shadow rays for {width} × {height} pixels and {lights} lights");
        gpu.check_binding(&what, bytes)?;
        let usage = Buffer::STORAGE | Buffer::COPY_SRC | Buffer::COPY_DST;
        let image = |label, is_used: bool| {
            let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
            let size = if is_used { plan.size } else { UNUSED };
            // The filter processes two slots at a time.
            let layers = if is_used {
                lights.next_multiple_of(2) * (1 + u32::from(plan.keeps_blockers))
            } else {
                unused_layers(gpu)
            };
            GpuImage::with_layers(gpu, label, size, layers, Format::R32Uint, usage)
        };
        try_create(gpu, plan.size, || Self {
            words: gpu.buffer("shadow_words", bytes, usage),
            blocked: image("blocked_light", plan.filters),
            plan,
        })
    }

    /// Returns the layout that the buffers were created for.
    pub fn plan(&self) -> VisibilityPlan {
        self.plan
    }

    /// True if the triangles that block the light are recorded.
    pub fn has_blockers(&self) -> bool {
        self.plan.keeps_blockers
    }

    /// True if visited nodes and triangles are counted.
    pub fn has_cost(&self) -> bool {
        self.plan.counts_cost
    }

    /// True if shadow rays are traced.
    pub fn is_traced(&self) -> bool {
        self.plan.traced_slots.is_some()
    }

    /// Returns the number of words of visibility after the counters. Each word has a byte per slot, for four
    /// slots of a pixel.
    pub fn len(&self) -> usize {
        self.plan.words() as usize
    }

    /// True if [`Self::len`] is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the first word of the chosen lights, the number of pixels, and that of slots.
    pub(crate) fn chosen(&self) -> Option<[usize; 3]> {
        let pixels = self.plan.size.map(|side| side as usize).iter().product();
        let cost = if self.plan.counts_cost { 2 * pixels } else { 0 };
        let first = SHADOW_HEADER as usize + self.len() + cost;
        self.plan
            .chooses
            .then(|| [first, pixels, self.plan.slots() as usize])
    }
}

impl VisibilityPlan {
    /// Creates a plan without shadow rays, for images of `size` pixels.
    pub fn untraced(size: [u32; 2]) -> Self {
        Self {
            size,
            traced_slots: None,
            untraced_slots: None,
            chooses: false,
            counts_cost: false,
            filters: false,
            keeps_blockers: false,
        }
    }

    /// Returns the number of light slots of a pixel.
    fn slots(&self) -> u32 {
        self.traced_slots.or(self.untraced_slots).unwrap_or(0)
    }

    fn words(&self) -> u64 {
        let slots = self.traced_slots.or(self.untraced_slots);
        let layers = slots.map_or(0, |slots| slots.div_ceil(4).max(1));
        let [width, height] = self.size;
        u64::from(layers) * u64::from(width) * u64::from(height)
    }
}

/// Occlusion found by the rays of a frame: written by `occlusion_rays`.
#[derive(Debug, Clone, Copy)]
pub struct NoisyOcclusion<'a> {
    /// Noisy signal, in two layers.
    pub signal: &'a GpuImage,
    /// Closest hit of one ray per pixel, if light bounces (ambient/occlusion_hit.wgsl).
    pub hits: &'a GpuImage,
    /// Parameters of the rays.
    pub params: &'a Uniform<OcclusionParams>,
}

/// Ambient visibility of each pixel: written by the occlusion passes.
#[derive(Debug)]
pub struct AmbientVisibility {
    /// Two words per pixel: the visible fraction with the bent normal, or, if light bounces fully, with the
    /// visible share of the environment's light; and the bounced light (frame/ambient_visibility.wgsl).
    pub words: wgpu::Buffer,
    size: Option<[u32; 2]>,
}

impl AmbientVisibility {
    /// Creates a zeroed buffer for `size` pixels, or for a single one if no rays are traced.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the buffer exceeds the adapter's storage binding size.
    pub fn new(gpu: &Gpu, size: Option<[u32; 2]>) -> Result<Self> {
        let [width, height] = size.unwrap_or([1, 1]);
        let bytes = 8 * u64::from(width) * u64::from(height);
        let what = format!("the ambient occlusion of {width} × {height} pixels");
        gpu.check_binding(&what, bytes)?;
        let usage = Buffer::STORAGE | Buffer::COPY_SRC;
        Ok(Self {
            words: gpu.buffer("occlusion.words", bytes, usage),
            size,
        })
    }

    /// Returns the width and height in pixels, or `None` if no rays are traced.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.size
    }

    /// Returns the number of pixels with ambient visibility.
    pub fn len(&self) -> usize {
        self.size
            .map_or(0, |[width, height]| width as usize * height as usize)
    }

    /// True if [`Self::len`] is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Incident light at the visible surfaces, and the fog in front of them.
#[derive(Debug, Clone, Copy)]
pub struct Incident<'a> {
    /// Visibility of the lights.
    pub visibility: &'a Visibility,
    /// Visibility of the environment, and bounced light.
    pub ambient: &'a AmbientVisibility,
    /// Radiance along reflection rays.
    pub reflected: &'a ReflectedRadiance,
    /// Fog in front of the surfaces.
    pub fog: FogFroxels<'a>,
}

impl<'a> Incident<'a> {
    /// Bundles the outputs of the passes.
    pub fn new(
        visibility: &'a Visibility,
        ambient: &'a AmbientVisibility,
        reflected: &'a ReflectedRadiance,
        fog: FogFroxels<'a>,
    ) -> Self {
        Self {
            visibility,
            ambient,
            reflected,
            fog,
        }
    }
}

/// Fog in front of the visible surfaces: computed by the fog passes.
#[derive(Debug, Clone, Copy)]
pub struct FogFroxels<'a> {
    /// Medium and froxel grid.
    pub params: &'a Uniform<FogParams>,
    /// Light that each froxel scatters to the eye, divided by its extinction and albedo.
    pub light: &'a GpuImage,
    /// One layer per slice boundary (fog/fog_integrate.wgsl). RGB is the mean radiance that the fog in front
    /// of it scatters to the eye, weighted by transmittance. Alpha is the factor by which noise changes the
    /// optical depth.
    pub integrated: &'a GpuImage,
    /// Sampler for both textures.
    pub sampler: &'a wgpu::Sampler,
}

impl FogFroxels<'_> {
    /// Bindings for passes that apply the fog, in the order of their shaders.
    pub const BINDINGS: [Binding; 3] = [Binding::Uniform, Binding::FilteredArray, Binding::Sampler];

    /// Returns the resources of these bindings.
    pub fn bindings(&self) -> [&dyn Bind; 3] {
        [self.params, self.integrated, self.sampler]
    }
}

/// Format of [`VolumeLayers::spans`].
pub const SPAN_FORMAT: Format = Format::R32Float;

/// Volumes in front of blended surfaces: written by `volume_march`. All zeros without volumes, or if nothing
/// is blended.
#[derive(Debug, Clone, Copy)]
pub struct VolumeLayers<'a> {
    /// One layer per volume, the farthest first: radiance, and transmittance of the light from beyond the
    /// volume.
    pub seen: &'a GpuImage,
    /// Two layers per volume: the distances at which it begins and ends.
    pub spans: &'a GpuImage,
}

impl VolumeLayers<'_> {
    /// Bindings as storage textures. Layered materials leave no room for more sampled textures.
    pub const BINDINGS: [Binding; 2] = [Binding::LoadArray(HDR_FORMAT), Binding::LoadArray(SPAN_FORMAT)];

    /// Returns the resources of these bindings.
    pub fn bindings(&self) -> [&dyn Bind; 2] {
        [self.seen, self.spans]
    }
}

/// Lit picture: written by `lighting`. `layers` and `blend` draw into it.
#[derive(Debug)]
pub struct Radiance {
    /// Linear radiance.
    pub hdr: GpuImage,
    /// Linear colours of unlit surfaces and of a plain background. They are added without exposure or tone
    /// mapping.
    pub display: GpuImage,
    /// Samples per pixel so far, if the picture is path-traced.
    pub path_samples: Option<u32>,
}

impl Radiance {
    /// Creates empty images of `size` pixels.
    pub fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING | Usage::RENDER_ATTACHMENT;
        let image = |label| GpuImage::new(gpu, label, size, HDR_FORMAT, usage);
        Self {
            hdr: image("hdr"),
            display: image("display"),
            path_samples: None,
        }
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.hdr.size()
    }
}

/// Channel that a frame shows.
#[derive(Debug, Clone, Copy)]
pub struct Displayed<'a> {
    /// Values of the channel. If this frame shows the lit picture, they are an earlier frame's.
    pub image: &'a GpuImage,
    /// Heat map that shows the channel; `None` if it has other colours.
    pub heat: Option<Heat>,
}

/// Calls `make`, which creates resources for a picture of `size`.
///
/// # Errors
///
/// [`Error::Gpu`] if the adapter has too little memory.
pub fn try_create<T>(gpu: &Gpu, size: [u32; 2], make: impl FnOnce() -> T) -> Result<T> {
    gpu.catch(make).map_err(|e| {
        let [width, height] = size;
        let name = &gpu.info.name;
        Error::Gpu(format!(
            "a picture of {width} × {height} pixels does not fit {name}: {e}"
        ))
    })
}
