//! What depends on the size of the picture: the G-buffer, what shadow rays need and find, radiance.

use super::ray_list::RayList;
use crate::{
    Result,
    gpu::{Gpu, layout::SHADOW_HEADER, pass},
};
use wgpu::{BufferUsages as Buffer, TextureFormat as Format, TextureUsages as Usage};

/// Formats of the G-buffer's targets, in the order of `GBufferTexel` in common/gbuffer.wgsl.
pub const GBUFFER_FORMATS: [Format; 5] = [
    Format::Rgba32Float,
    Format::R32Uint,
    Format::R32Uint,
    Format::R32Uint,
    Format::R32Uint,
];
/// Reversed depth.
pub const DEPTH_FORMAT: Format = Format::Depth32Float;
/// Radiance.
pub const HDR_FORMAT: Format = Format::Rgba16Float;

/// The finished picture where it is worked on once more, encoded for the display; and shares of pixels.
pub const PICTURE_FORMAT: Format = Format::Rgba8Unorm;
/// Edges of the finished picture.
pub const EDGES_FORMAT: Format = Format::R8Uint;

/// A texture and its view.
#[derive(Debug)]
pub struct Target {
    /// The texture.
    pub texture: wgpu::Texture,
    /// All of it.
    pub view: wgpu::TextureView,
}

impl Target {
    /// A texture of one level and layer.
    pub fn new(gpu: &Gpu, label: &str, size: [u32; 2], format: Format, usage: Usage) -> Self {
        let texture = pass::target(gpu, label, size, format, usage);
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some(label),
            ..Default::default()
        });
        Self { texture, view }
    }
}

/// What targets are made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Shape {
    /// Pixels.
    pub size: [u32; 2],
    /// Lights to which shadow rays are sent, where they are sent.
    pub traced_lights: Option<u32>,
    /// Whether those rays are listed.
    pub compact: bool,
    /// How many the list holds at most.
    pub batch_rays: u32,
    /// Whether the finished picture is worked on before it goes to its target.
    pub smooths: bool,
}

impl Shape {
    /// Words of visibility: a bit per light, 32 lights a layer.
    pub fn visibility_words(self) -> u64 {
        let layers = |lights: u32| lights.div_ceil(32).max(1);
        u64::from(self.traced_lights.map_or(0, layers)) * self.pixels()
    }

    /// Words of `shadow_words`.
    fn shadow_words(self) -> u64 {
        let cost = self.traced_lights.map_or(0, |_| 2 * self.pixels());
        u64::from(SHADOW_HEADER) + self.visibility_words() + cost
    }

    fn pixels(self) -> u64 {
        u64::from(self.size[0]) * u64::from(self.size[1])
    }

    /// Fails when an adapter's storage bindings do not hold what shadow rays leave behind.
    pub fn check(self, gpu: &Gpu) -> Result<()> {
        let [width, height] = self.size;
        let lights = self.traced_lights.unwrap_or(0);
        let what = format!("shadow rays for {width} × {height} pixels and {lights} lights");
        gpu.check_binding(&what, 4 * self.shadow_words())
    }
}

/// The targets of a frame.
#[derive(Debug)]
pub struct Targets {
    /// What they were made for.
    pub shape: Shape,
    /// Pixels.
    pub size: [u32; 2],
    /// World position, with roughness and metalness in w.
    pub position: Target,
    /// World normal.
    pub normal: Target,
    /// Base colour and occlusion.
    pub albedo: Target,
    /// Emitted radiance.
    pub emissive: Target,
    /// Triangle, plus 1; or point or line (common/gbuffer.wgsl).
    pub ids: Target,
    /// Reversed depth.
    pub depth: Target,
    /// Where lights arrive, and what it took to find out: common/shadow_words.wgsl. Without shadow rays only the header.
    pub shadow_words: wgpu::Buffer,
    /// Shadow rays that are to be traced; without a batch where they are not listed.
    pub ray_list: RayList,
    /// Radiance.
    pub hdr: Target,
    /// Colours that are shown as they are, neither exposed nor tone-mapped, on top of that: unlit surfaces, a background of one colour. Linear.
    pub display: Target,
    /// A channel as floats.
    pub channel: Target,
    /// The finished picture. Of this and the next three there is one texel where the picture goes to its target as it is.
    pub picture: Target,
    /// Where it has edges.
    pub edges: Target,
    /// How much of a pixel its neighbours cover.
    pub weights: Target,
    /// The picture without steps, where it is to be stretched.
    pub smoothed: Target,
}

impl Targets {
    /// Makes them.
    pub fn new(gpu: &Gpu, shape: Shape) -> Self {
        let size = shape.size;
        let target = |label, format, usage| Target::new(gpu, label, size, format, usage);
        let gbuffer = |label, index: usize| {
            let usage = Usage::RENDER_ATTACHMENT | Usage::TEXTURE_BINDING;
            target(label, GBUFFER_FORMATS[index], usage)
        };
        let smoothing = |label, format| {
            let size = if shape.smooths { size } else { [1, 1] };
            let usage = Usage::RENDER_ATTACHMENT | Usage::TEXTURE_BINDING;
            Target::new(gpu, label, size, format, usage)
        };
        let lit = |label| {
            let usage = Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING | Usage::RENDER_ATTACHMENT;
            target(label, HDR_FORMAT, usage)
        };
        let listed_lights = shape.traced_lights.filter(|_| shape.compact).unwrap_or(0);
        Self {
            shape,
            size,
            position: gbuffer("position", 0),
            normal: gbuffer("normal", 1),
            albedo: gbuffer("albedo", 2),
            emissive: gbuffer("emissive", 3),
            ids: gbuffer("ids", 4),
            depth: target("depth", DEPTH_FORMAT, Usage::RENDER_ATTACHMENT),
            shadow_words: gpu.buffer(
                "shadow_words",
                4 * shape.shadow_words(),
                Buffer::STORAGE | Buffer::COPY_SRC | Buffer::COPY_DST,
            ),
            ray_list: RayList::new(gpu, size, listed_lights, shape.batch_rays),
            hdr: lit("hdr"),
            display: lit("display"),
            channel: target(
                "channel",
                Format::Rgba32Float,
                Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING | Usage::COPY_SRC,
            ),
            picture: smoothing("picture", PICTURE_FORMAT),
            edges: smoothing("edges", EDGES_FORMAT),
            weights: smoothing("weights", PICTURE_FORMAT),
            smoothed: smoothing("smoothed", PICTURE_FORMAT),
        }
    }

    /// The G-buffer as it is drawn to, in the order of [`GBUFFER_FORMATS`].
    pub fn gbuffer_colors(
        &self,
        load: wgpu::LoadOp<wgpu::Color>,
    ) -> [Option<wgpu::RenderPassColorAttachment<'_>>; 5] {
        let targets = [
            &self.position,
            &self.normal,
            &self.albedo,
            &self.emissive,
            &self.ids,
        ];
        targets.map(|target| Some(pass::color(&target.view, load)))
    }

    /// Whether `target` has as many pixels.
    pub fn fits(&self, target: &wgpu::TextureView) -> bool {
        let texture = target.texture();
        [texture.width(), texture.height()] == self.size
    }
}
