//! Cube maps on the GPU.

use canopy_bvh::{Result, gpu::Gpu};
use glam::Vec3;
use half::f16;
use wgpu::{TextureFormat as Format, TextureUsages as Usage, TextureViewDimension as Dimension};

/// Cube map with mip levels. Faces are ordered +X, −X, +Y, −Y, +Z, −Z and oriented as in Vulkan, D3D and
/// KTX2. For a direction (x, y, z), the face coordinates to the right and down, over the largest axis, are +X
/// (−z, −y), −X (z, −y), +Y (x, z), −Y (x, −z), +Z (x, −y), −Z (−x, −y).
#[derive(Debug)]
pub struct Cube {
    /// Texture with six layers.
    pub texture: wgpu::Texture,
    /// Cube view of all mip levels.
    pub view: wgpu::TextureView,
    /// Texels along an edge of the finest mip level.
    pub face: u32,
    /// Number of mip levels.
    pub levels: u32,
}

impl Cube {
    /// Creates an empty cube map. `format` is Rgba16Float, or Rgba32Float if nothing samples it.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter runs out of memory.
    pub fn new(gpu: &Gpu, label: &str, face: u32, levels: u32, format: Format) -> Result<Self> {
        let texture = gpu.catch(|| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: Some(label),
                size: wgpu::Extent3d {
                    width: face,
                    height: face,
                    depth_or_array_layers: 6,
                },
                mip_level_count: levels,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: Usage::TEXTURE_BINDING | Usage::STORAGE_BINDING | Usage::COPY_SRC | Usage::COPY_DST,
                view_formats: &[],
            })
        })?;
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some(label),
            dimension: Some(Dimension::Cube),
            ..Default::default()
        });
        Ok(Self {
            texture,
            view,
            face,
            levels,
        })
    }

    /// Returns the number of mip levels of a cube, down to one texel a face.
    pub fn full_levels(face: u32) -> u32 {
        face.max(1).ilog2() + 1
    }

    /// Fills the finest mip level with a colour.
    pub(super) fn fill(&self, gpu: &Gpu, color: Vec3) {
        let texel = color.extend(1.0).to_array().map(f16::from_f32);
        let texels = vec![texel; (6 * self.face * self.face) as usize];
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(8 * self.face),
            rows_per_image: Some(self.face),
        };
        let size = wgpu::Extent3d {
            width: self.face,
            height: self.face,
            depth_or_array_layers: 6,
        };
        let whole = self.texture.as_image_copy();
        let bytes = bytemuck::cast_slice(&texels);
        gpu.queue.write_texture(whole, bytes, layout, size);
    }

    /// Returns a view of one mip level as an array of six layers, for loads or stores.
    pub fn level(&self, level: u32) -> wgpu::TextureView {
        self.texture.create_view(&wgpu::TextureViewDescriptor {
            label: Some("cube level"),
            dimension: Some(Dimension::D2Array),
            base_mip_level: level,
            mip_level_count: Some(1),
            ..Default::default()
        })
    }
}
