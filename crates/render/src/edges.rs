//! What passes hand each other. One pass makes and owns each of these; the passes after it read them, or draw
//! into them.

use super::{
    aov::Heat,
    layout::{FogParams, MotionParams, OcclusionParams, SHADOW_HEADER, ShadowView},
    upload::scene_buffers::SceneBuffers,
};
use canopy_bvh::{
    Error, Result,
    accel::Tree,
    gpu::{
        Array, Arrays, Bind, Gpu, GpuImage, Uniform,
        pass::{self, Binding},
    },
};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format, TextureUsages as Usage};

/// Frames that are averaged while something moves: what it uncovers has to brighten, and what it covers to
/// darken.
const MOVING: u32 = 8;

/// Where the last frame saw what a pixel sees: denoise/signal_taps.wgsl.
pub const TAPS_FORMAT: Format = Format::Rg32Uint;
/// Surfaces that signals are of: `SignalSurface` in denoise/signal.wgsl.
pub const SURFACES_FORMAT: Format = Format::Rgba32Uint;

/// What a pass that traces rays writes for a signal's filter: a word a layer, two layers a signal.
pub const FRESH_FORMAT: Format = Format::R32Uint;
/// What `shadow_shafts` finds of each tile.
pub const TILES_FORMAT: Format = Format::Rg32Uint;

/// Size of an image that is bound and not used. No side is a power of two, as in most pictures: Mesa's software driver
/// compiles a kernel once more for images of which other sides are.
pub const UNUSED: [u32; 2] = [3, 3];
/// Layers of an array that is not used: Mesa's software driver compiles a kernel once more for arrays of one.
pub fn unused_layers(gpu: &Gpu) -> u32 {
    match gpu.capabilities.arrays {
        Arrays::Textures => 2,
        Arrays::Buffers => 1,
    }
}

/// Positions of the G-buffer, or displacements.
pub const POSITIONS: Binding = Binding::Texels(POSITION_FORMAT);
/// Any other image of the G-buffer.
pub const WORDS: Binding = Binding::Texels(WORD_FORMAT);
/// Taps of the last frame.
pub const TAPS: Binding = Binding::Texels(TAPS_FORMAT);
/// Surfaces of this frame or the last.
pub const SURFACES: Binding = Binding::Texels(SURFACES_FORMAT);
/// What rays have found, and edges of shadows.
pub const FRESH: Binding = Binding::TexelsArray(FRESH_FORMAT);
/// Tiles where something has changed.
pub const TILES: Binding = Binding::Texels(TILES_FORMAT);

pub use super::formats::{
    DEPTH_FORMAT, HDR_FORMAT, LOBE_FORMATS, PICTURE_FORMAT, POSITION_FORMAT, WORD_FORMAT,
};
pub(super) use super::formats::{drawn_position_format, gbuffer_targets};

/// The merged triangles in world space at this frame's pose: made by `deform`.
#[derive(Debug, Clone, Copy)]
pub struct Geometry<'a> {
    /// Bind group of `Layouts::scene`, group 2 of the passes that look at triangles.
    pub group: &'a wgpu::BindGroup,
    /// The merged buffers and what is drawn of them.
    pub buffers: &'a SceneBuffers,
}

/// The trees over that geometry: made by `lbvh`.
#[derive(Debug, Clone, Copy)]
pub struct Trees<'a> {
    /// Bind group of `Layouts::tree`, group 1 of the passes that trace rays.
    pub group: &'a wgpu::BindGroup,
    /// What it holds, for passes that bind more beside it.
    pub tree: &'a Tree,
}

/// Room for the depth that lights see, and from where they see it: made by `shadow_map`.
#[derive(Debug, Clone, Copy)]
pub struct ShadowMaps<'a> {
    /// All layers.
    pub depth: &'a wgpu::TextureView,
    /// Compares with them.
    pub sampler: &'a wgpu::Sampler,
    /// The view of each layer that is drawn.
    pub views: &'a [ShadowView],
}

/// What each pixel sees: made by `gbuffer` and `points_lines`.
#[derive(Debug)]
pub struct GBuffer {
    /// Depth or world position (frame/gbuffer_position.wgsl), and roughness and metalness.
    pub position: GpuImage,
    /// World normal.
    pub normal: GpuImage,
    /// Base colour and the material's occlusion.
    pub albedo: GpuImage,
    /// Emitted radiance.
    pub emissive: GpuImage,
    /// Triangle plus 1; or point or line (frame/gbuffer.wgsl).
    pub ids: GpuImage,
    /// Reversed depth.
    pub depth: GpuImage,
}

impl GBuffer {
    /// Empty images of `size` pixels, to be drawn into.
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

    /// Pixels in a row, and rows.
    pub fn size(&self) -> [u32; 2] {
        self.position.size()
    }

    /// The colour attachments, in the order of `gbuffer_targets`.
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

/// What the rays of each pixel hit: made by `reflection_rays` and `reflection_surface`.
#[derive(Debug)]
pub struct Hits {
    /// As that of the picture. Its depth is one texel.
    pub gbuffer: GBuffer,
    /// Triangles, rays and ambient visibility: three layers (reflections/reflection_ray.wgsl).
    pub found: GpuImage,
    /// Of surfaces with layers, where the scene has any.
    pub lobes: Lobes,
}

impl Hits {
    /// Room for the hits of `size` pixels, and for the lobes of `lobes_size`.
    pub fn new(gpu: &Gpu, size: [u32; 2], lobes_size: [u32; 2]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING;
        Self {
            gbuffer: GBuffer::with_usage(gpu, size, POSITION_FORMAT, Usage::STORAGE_BINDING, [1, 1]),
            found: GpuImage::with_layers(gpu, "hits.found", size, 3, Format::Rgba32Uint, usage),
            lobes: Lobes::new(gpu, lobes_size, Usage::STORAGE_BINDING),
        }
    }

    /// Pixels in a row, and rows.
    pub fn size(&self) -> [u32; 2] {
        self.found.size()
    }
}

/// The lobes by which surfaces with layers send rays on: made by `lobes`, and at hits by `reflection_lobes`.
#[derive(Debug)]
pub struct Lobes {
    /// Coat, sheen and base (material/lobes.wgsl).
    pub layers: GpuImage,
    /// What is transmitted.
    pub glass: GpuImage,
}

impl Lobes {
    /// Empty images of `size` pixels, written as `usage` says.
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

    /// Pixels in a row, and rows.
    pub fn size(&self) -> [u32; 2] {
        self.layers.size()
    }
}

/// Which surfaces of the picture reflection rays start from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReflectionStart {
    /// What the G-buffer shows.
    Solid,
    /// The front-most blended surfaces.
    Blended,
}

/// Bytes of a pixel in [`Reflected::words`].
pub const REFLECTED_BYTES: u64 = 8;

/// What each pixel reflects: made by the reflection passes.
#[derive(Debug)]
pub struct Reflected {
    /// Two words a pixel: reflections/reflected.wgsl.
    pub words: wgpu::Buffer,
    size: Option<[u32; 2]>,
}

impl Reflected {
    /// Zeros for `size` pixels, or nothing to read where no rays are traced.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where a storage binding of the adapter does not hold them.
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

    /// Pixels in a row and rows, where rays are traced.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.size
    }
}

/// How far what each pixel shows has moved since the last frame: made by `motion`.
#[derive(Debug, Clone, Copy)]
pub struct Motion<'a> {
    /// The cameras.
    pub params: &'a Uniform<MotionParams>,
    /// How far it has moved, in world space, where the parameters say that anything has.
    pub displacement: &'a GpuImage,
    /// The merged positions of the last frame, where anything has moved since.
    pub last_positions: Option<&'a Array>,
}

/// Place of each pixel's surface in the last frame: made by `reproject`.
#[derive(Debug, Clone, Copy)]
pub struct Reprojection<'a> {
    /// Pixels of the last frame, and how much each counts.
    pub taps: &'a GpuImage,
    /// This frame's surfaces.
    pub surfaces: &'a GpuImage,
    /// The surfaces that the last frame saw.
    pub last_surfaces: &'a GpuImage,
    /// Number of this frame since the history began.
    pub index: u32,
    /// Frames since the scene came to rest, or the history began.
    pub since_rest: u32,
    /// Whether anything in the scene has moved since the last frame.
    pub moves: bool,
}

impl Reprojection<'_> {
    /// Earlier frames that count, of a signal that averages `frames` and notices by itself what changes.
    pub fn remembered(&self, frames: u32) -> u32 {
        (frames - 1).min(self.index)
    }

    /// Earlier frames of a signal that does not: few while something moves, and once all stands still, what was
    /// found while something moved counts no more.
    pub fn remembered_cautiously(&self, frames: u32) -> u32 {
        let most = if self.moves { MOVING } else { frames };
        (frames.min(most) - 1).min(self.since_rest)
    }
}

/// Shadow rays of a picture, or of the hits of reflections.
#[derive(Clone, Copy)]
pub struct ShadowJob<'a> {
    /// Label of the passes that trace them.
    pub label: &'static str,
    /// The surfaces that they start from.
    pub gbuffer: &'a GBuffer,
    /// Room for what they find.
    pub visibility: &'a Visibility,
    /// Pixels of the last frame, the edges that it found there, and the tiles where something has changed.
    pub edges: [&'a dyn Bind; 3],
}

impl std::fmt::Debug for ShadowJob<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShadowJob")
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

/// Surfaces that are seen, and their past.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The surfaces.
    pub gbuffer: &'a GBuffer,
    /// How far they have moved.
    pub motion: Motion<'a>,
    /// Where the last frame saw them.
    pub history: Reprojection<'a>,
}

/// Which lights each pixel sees: made by the shadow passes.
#[derive(Debug)]
pub struct Visibility {
    /// Counts, visibility, costs and chosen lights: shadow/shadow_words.wgsl. Only the counts where no shadow
    /// rays are traced.
    pub words: wgpu::Buffer,
    /// What the filter reads, a layer a slot; not used without it. Behind those a layer a slot for the triangles
    /// that block the light, plus 1, once anything moves.
    pub blocked: GpuImage,
    plan: VisibilityPlan,
}

/// How lights are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VisibilityPlan {
    /// Pixels in a row, and rows.
    pub size: [u32; 2],
    /// Slots of a pixel for lights that shadow rays are traced to, where they are traced.
    pub traced_slots: Option<u32>,
    /// Slots of a pixel for lights that volumes dim, where shadow maps are compared with.
    pub volume_slots: Option<u32>,
    /// Whether there are more lights than slots.
    pub chooses: bool,
    /// Whether what rays visit is counted.
    pub counts_cost: bool,
    /// Whether the rays are filtered.
    pub filters: bool,
    /// Whether it is kept which triangles block them.
    pub keeps_blockers: bool,
}

impl Visibility {
    /// Zeros for what `plan` traces.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where a storage binding of the adapter does not hold them.
    pub fn new(gpu: &Gpu, plan: VisibilityPlan) -> Result<Self> {
        let [width, height] = plan.size;
        let pixels = u64::from(width) * u64::from(height);
        let cost = if plan.counts_cost { 2 * pixels } else { 0 };
        let lights = plan.traced_slots.unwrap_or(0);
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
            // The filter takes two slots at a time.
            let layers = if is_used {
                lights.next_multiple_of(2) * (1 + u32::from(plan.keeps_blockers))
            } else {
                unused_layers(gpu)
            };
            GpuImage::with_layers(gpu, label, size, layers, Format::R32Uint, usage)
        };
        fitted(gpu, plan.size, || Self {
            words: gpu.buffer("shadow_words", bytes, usage),
            blocked: image("blocked_light", plan.filters),
            plan,
        })
    }

    /// What it was made for.
    pub fn plan(&self) -> VisibilityPlan {
        self.plan
    }

    /// Whether it holds which triangles block the light.
    pub fn has_blockers(&self) -> bool {
        self.plan.keeps_blockers
    }

    /// Whether it holds what rays visited.
    pub fn has_cost(&self) -> bool {
        self.plan.counts_cost
    }

    /// Whether shadow rays are traced.
    pub fn is_traced(&self) -> bool {
        self.plan.traced_slots.is_some()
    }

    /// Words of visibility behind the counts: a byte per slot, four slots a layer of the picture.
    pub fn len(&self) -> usize {
        self.plan.words() as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl VisibilityPlan {
    /// No shadow rays, for pictures of `size` pixels.
    pub fn untraced(size: [u32; 2]) -> Self {
        Self {
            size,
            traced_slots: None,
            volume_slots: None,
            chooses: false,
            counts_cost: false,
            filters: false,
            keeps_blockers: false,
        }
    }

    fn words(&self) -> u64 {
        let layers = self
            .traced_slots
            .or(self.volume_slots)
            .map_or(0, |slots| slots.div_ceil(4).max(1));
        let [width, height] = self.size;
        u64::from(layers) * u64::from(width) * u64::from(height)
    }
}

/// What rays of ambient occlusion have found in a frame: made by `occlusion_rays`.
#[derive(Debug, Clone, Copy)]
pub struct OcclusionFound<'a> {
    /// The signal, in two layers.
    pub signal: &'a GpuImage,
    /// What one ray of each pixel hit first, where lights bounce (ambient/occlusion_hit.wgsl).
    pub hits: &'a GpuImage,
    /// Which rays they were.
    pub params: &'a Uniform<OcclusionParams>,
}

/// How much of the environment each pixel sees: made by the occlusion passes.
#[derive(Debug)]
pub struct AmbientVisibility {
    /// Two words a pixel: the share that is visible and the bent normal, and the light that bounces off what occludes
    /// (frame/ambient_visibility.wgsl).
    pub words: wgpu::Buffer,
    size: Option<[u32; 2]>,
}

impl AmbientVisibility {
    /// Zeros for `size` pixels, or nothing to read where no rays are traced.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where a storage binding of the adapter does not hold them.
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

    /// Pixels in a row and rows, where rays are traced.
    pub fn size(&self) -> Option<[u32; 2]> {
        self.size
    }

    /// Pixels that hold ambient visibility.
    pub fn len(&self) -> usize {
        self.size
            .map_or(0, |[width, height]| width as usize * height as usize)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Light at what is seen, and the air in front of it.
#[derive(Debug, Clone, Copy)]
pub struct Incident<'a> {
    /// Lights that are seen.
    pub visibility: &'a Visibility,
    /// Environment that is seen, and light that bounces.
    pub ambient: &'a AmbientVisibility,
    /// Radiance along reflected rays.
    pub reflected: &'a Reflected,
    /// Air in front.
    pub air: Air<'a>,
}

impl<'a> Incident<'a> {
    /// Bundles the outputs of the passes.
    pub fn new(
        visibility: &'a Visibility,
        ambient: &'a AmbientVisibility,
        reflected: &'a Reflected,
        air: Air<'a>,
    ) -> Self {
        Self {
            visibility,
            ambient,
            reflected,
            air,
        }
    }
}

/// The air in front of what is seen: made by the passes of the fog.
#[derive(Debug, Clone, Copy)]
pub struct Air<'a> {
    /// The medium, and where its froxels lie.
    pub params: &'a Uniform<FogParams>,
    /// What each froxel scatters to the eye, over its extinction and albedo.
    pub light: &'a GpuImage,
    /// What lies between the eye and each slice of froxels: shaders/fog/fog_integrate.wgsl.
    pub air: &'a GpuImage,
    /// Filters both.
    pub sampler: &'a wgpu::Sampler,
}

impl Air<'_> {
    /// What binds it to passes that look at things through it, in the order of their shaders.
    pub const BINDINGS: [Binding; 3] = [Binding::Uniform, Binding::FilteredArray, Binding::Sampler];

    /// Resources of these bindings.
    pub fn bindings(&self) -> [&dyn Bind; 3] {
        [self.params, self.air, self.sampler]
    }
}

/// The format of [`VolumeLayers::spans`].
pub const SPAN_FORMAT: Format = Format::R32Float;

/// The volumes in front of what is drawn over the picture: made by `volume_march`. Without any, and where nothing
/// is drawn, zeros.
#[derive(Debug, Clone, Copy)]
pub struct VolumeLayers<'a> {
    /// A layer for each, the farthest first: radiance, and the share of the light from behind that comes through.
    pub seen: &'a GpuImage,
    /// Two layers for each: the distances between which it is seen.
    pub spans: &'a GpuImage,
}

impl VolumeLayers<'_> {
    /// What binds them, as storage textures: materials with layers leave room for no more that are sampled.
    pub const BINDINGS: [Binding; 2] = [Binding::LoadArray(HDR_FORMAT), Binding::LoadArray(SPAN_FORMAT)];

    /// Resources of these bindings.
    pub fn bindings(&self) -> [&dyn Bind; 2] {
        [self.seen, self.spans]
    }
}

/// The lit picture: made by `lighting`; `layers` and `blend` draw into it.
#[derive(Debug)]
pub struct Radiance {
    /// Radiance, linear.
    pub hdr: GpuImage,
    /// Colours that are neither exposed nor tone-mapped, on top of that, linear: unlit surfaces, a background
    /// of one colour.
    pub display: GpuImage,
    /// Samples of each pixel so far, where it is made of paths.
    pub path_samples: Option<u32>,
}

impl Radiance {
    /// Empty images of `size` pixels.
    pub fn new(gpu: &Gpu, size: [u32; 2]) -> Self {
        let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING | Usage::RENDER_ATTACHMENT;
        let image = |label| GpuImage::new(gpu, label, size, HDR_FORMAT, usage);
        Self {
            hdr: image("hdr"),
            display: image("display"),
            path_samples: None,
        }
    }

    /// Pixels in a row, and rows.
    pub fn size(&self) -> [u32; 2] {
        self.hdr.size()
    }
}

/// The channel that a frame shows.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Its floats, or those of an earlier frame where this one is lit.
    pub image: &'a GpuImage,
    /// Colours of magnitudes in which it is shown; `None` where it has others.
    pub heat: Option<Heat>,
}

/// What `make` makes for a picture of `size`.
///
/// # Errors
///
/// [`Error::Gpu`] where the adapter has no room for it.
pub fn fitted<T>(gpu: &Gpu, size: [u32; 2], make: impl FnOnce() -> T) -> Result<T> {
    gpu.catch(make).map_err(|e| {
        let [width, height] = size;
        let name = &gpu.info.name;
        Error::Gpu(format!(
            "a picture of {width} × {height} pixels does not fit {name}: {e}"
        ))
    })
}
