//! What depends on the size of the picture: the G-buffer, visibility, cost, radiance.

use crate::gpu::{Gpu, pass};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

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

/// A texture and its view.
#[derive(Debug)]
pub struct Target {
    /// The texture.
    pub texture: wgpu::Texture,
    /// All of it.
    pub view: wgpu::TextureView,
}

/// The targets of a frame.
#[derive(Debug)]
pub struct Targets {
    /// Pixels.
    pub size: [u32; 2],
    /// Layers of `visibility`.
    pub visibility_layers: u32,
    /// World position, with roughness and metalness in w.
    pub position: Target,
    /// World normal.
    pub normal: Target,
    /// Base colour and occlusion.
    pub albedo: Target,
    /// Emitted radiance.
    pub emissive: Target,
    /// Triangle, plus 1.
    pub ids: Target,
    /// Reversed depth.
    pub depth: Target,
    /// A bit per light, 32 lights a layer.
    pub visibility: Target,
    /// Nodes and triangles that the pixel's shadow rays visited.
    pub cost: Target,
    /// Radiance.
    pub hdr: Target,
    /// A channel as floats.
    pub channel: Target,
}

impl Targets {
    /// Makes them for pictures of `size` pixels with `lights` lights.
    pub fn new(gpu: &Gpu, size: [u32; 2], lights: u32) -> Self {
        let target = |label, format, usage| {
            let texture = pass::target(gpu, label, size, format, usage);
            let view = texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some(label),
                ..Default::default()
            });
            Target { texture, view }
        };
        let gbuffer = |label, index: usize| {
            target(
                label,
                GBUFFER_FORMATS[index],
                Usage::RENDER_ATTACHMENT | Usage::TEXTURE_BINDING,
            )
        };
        let visibility_layers = Self::layers(lights);
        let visibility = {
            let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some("visibility"),
                size: wgpu::Extent3d {
                    width: size[0].max(1),
                    height: size[1].max(1),
                    depth_or_array_layers: visibility_layers,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format: Format::R32Uint,
                usage: Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING,
                view_formats: &[],
            });
            let view = texture.create_view(&wgpu::TextureViewDescriptor {
                label: Some("visibility"),
                dimension: Some(wgpu::TextureViewDimension::D2Array),
                ..Default::default()
            });
            Target { texture, view }
        };
        Self {
            size,
            visibility_layers,
            position: gbuffer("position", 0),
            normal: gbuffer("normal", 1),
            albedo: gbuffer("albedo", 2),
            emissive: gbuffer("emissive", 3),
            ids: gbuffer("ids", 4),
            depth: target("depth", DEPTH_FORMAT, Usage::RENDER_ATTACHMENT),
            visibility,
            cost: target(
                "cost",
                Format::R32Uint,
                Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING,
            ),
            hdr: target(
                "hdr",
                HDR_FORMAT,
                Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING | Usage::RENDER_ATTACHMENT,
            ),
            channel: target(
                "channel",
                Format::Rgba32Float,
                Usage::STORAGE_BINDING | Usage::TEXTURE_BINDING | Usage::COPY_SRC,
            ),
        }
    }

    /// Layers of visibility for `lights` lights.
    pub fn layers(lights: u32) -> u32 {
        lights.div_ceil(32).max(1)
    }
}
