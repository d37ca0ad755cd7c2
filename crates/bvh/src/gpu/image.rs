//! Texture with one mip level and a view of it, for the inputs and outputs of passes.

use super::{bind::Bind, capabilities::Arrays, device::Gpu};
use wgpu::{TextureFormat as Format, TextureUsages as Usage};

/// Texture and its view.
#[derive(Debug)]
pub struct GpuImage {
    /// Texture with one mip level.
    pub texture: wgpu::Texture,
    /// View of the mip level and of all layers.
    pub view: wgpu::TextureView,
}

impl GpuImage {
    /// Creates an image of `size` pixels. A side of 0 becomes 1.
    pub fn new(gpu: &Gpu, label: &str, size: [u32; 2], format: Format, usage: Usage) -> Self {
        let texture = texture(gpu, label, size, 1, format, usage);
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some(label),
            ..Default::default()
        });
        Self { texture, view }
    }

    /// Creates an image like [`GpuImage::new`] with `layers` layers, and an array view.
    pub fn with_layers(
        gpu: &Gpu,
        label: &str,
        size: [u32; 2],
        layers: u32,
        format: Format,
        usage: Usage,
    ) -> Self {
        let texture = texture(gpu, label, size, layers, format, usage);
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some(label),
            dimension: Some(wgpu::TextureViewDimension::D2Array),
            ..Default::default()
        });
        Self { texture, view }
    }

    /// Returns the number of array layers.
    pub fn layers(&self) -> u32 {
        self.texture.depth_or_array_layers()
    }

    /// Returns the width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        size_of_view(&self.view)
    }
}

fn texture(
    gpu: &Gpu,
    label: &str,
    size: [u32; 2],
    layers: u32,
    format: Format,
    usage: Usage,
) -> wgpu::Texture {
    // On software adapters, textures that shaders load texels from are storage textures (`Binding::Texels`).
    let is_loaded = gpu.capabilities.arrays == Arrays::Textures
        && usage.contains(Usage::TEXTURE_BINDING)
        && matches!(
            format,
            Format::R32Uint | Format::Rg32Uint | Format::Rgba32Uint | Format::Rgba32Float
        );
    let loaded = match is_loaded {
        true => Usage::STORAGE_BINDING,
        false => Usage::empty(),
    };
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width: size[0].max(1),
            height: size[1].max(1),
            depth_or_array_layers: layers.max(1),
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | loaded,
        view_formats: &[],
    })
}

impl Bind for GpuImage {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        self.view.binding()
    }
}

/// Returns the width and height in pixels of the texture of `view`.
pub fn size_of_view(view: &wgpu::TextureView) -> [u32; 2] {
    let texture = view.texture();
    [texture.width(), texture.height()]
}
