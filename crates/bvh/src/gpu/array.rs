//! Large arrays of 1, 2 or 4 words, read in the way that is fastest on the adapter. GPUs read storage
//! buffers. Software adapters read textures, because they vectorise texture loads but not buffer loads. The
//! textures are storage textures, except for elements of 2 words, which not every device can read from
//! storage textures.
//!
//! A shader declares an array with a line `#array read 0 1 positions: u32` (group 0, binding 1). It then
//! calls `positions(i: u32) -> u32`. A line with `write` instead of `read` declares `positions(i: u32, value:
//! u32)`. Elements are `u32`, `vec2u` or `vec4u`. Writes always go to the buffer. [`Array::publish`] copies
//! them to the texture that readers use.

use super::{capabilities::Arrays, device::Gpu};
use crate::{Error, Result};
use std::ops::Range;

/// Array on the GPU.
#[derive(Debug, Clone)]
pub struct Array {
    words: u32,
    len: u32,
    buffer: wgpu::Buffer,
    texture: Option<(wgpu::Texture, wgpu::TextureView)>,
}

impl Array {
    /// Creates an array of zeros: `len` elements of `words` (1, 2 or 4) words each.
    pub fn new(gpu: &Gpu, label: &str, words: u32, len: u32) -> Result<Self> {
        let bytes = u64::from(words) * 4 * u64::from(len);
        gpu.check_binding(label, bytes)?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        Self::from_buffer(gpu, label, words, &gpu.buffer(label, bytes, usage), len)
    }

    /// Wraps the first `len` elements of `buffer`, which needs `STORAGE` and `COPY_SRC`.
    pub fn from_buffer(gpu: &Gpu, label: &str, words: u32, buffer: &wgpu::Buffer, len: u32) -> Result<Self> {
        let texture = match gpu.capabilities.arrays {
            Arrays::Buffers => None,
            Arrays::Textures => Some(texture(gpu, label, words, len)?),
        };
        let buffer = buffer.clone();
        Ok(Self {
            words,
            len,
            buffer,
            texture,
        })
    }

    /// Returns the number of elements.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True if the array has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// True if shaders read the array from a texture, which [`Array::publish`] fills.
    pub fn has_texture(&self) -> bool {
        self.texture.is_some()
    }

    /// Returns the buffer that shaders write.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Returns the binding for shaders that read the array.
    pub fn read_binding(&self) -> wgpu::BindingResource<'_> {
        match &self.texture {
            Some((_, view)) => wgpu::BindingResource::TextureView(view),
            None => self.buffer.as_entire_binding(),
        }
    }

    /// Makes the written elements of `range` readable by shaders. Does nothing if they read the buffer
    /// directly.
    pub fn publish(&self, encoder: &mut wgpu::CommandEncoder, range: Range<u32>) {
        let Some((texture, _)) = &self.texture else {
            return;
        };
        let end = range.end.min(self.len);
        let mut at = range.start;
        // Copy a part of the first row, complete rows, and a part of the last row.
        while at < end {
            let (row, column) = (at / Arrays::WIDTH, at % Arrays::WIDTH);
            let (width, rows) = if column == 0 && end - at >= Arrays::WIDTH {
                (Arrays::WIDTH, (end - at) / Arrays::WIDTH)
            } else {
                ((Arrays::WIDTH - column).min(end - at), 1)
            };
            let bytes_per_row = Arrays::WIDTH * 4 * self.words;
            encoder.copy_buffer_to_texture(
                wgpu::TexelCopyBufferInfo {
                    buffer: &self.buffer,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: u64::from(at) * 4 * u64::from(self.words),
                        bytes_per_row: Some(bytes_per_row),
                        rows_per_image: None,
                    },
                },
                wgpu::TexelCopyTextureInfo {
                    origin: wgpu::Origin3d {
                        x: column,
                        y: row,
                        z: 0,
                    },
                    ..texture.as_image_copy()
                },
                wgpu::Extent3d {
                    width,
                    height: rows,
                    depth_or_array_layers: 1,
                },
            );
            at += width * rows;
        }
    }

    /// Reads back all elements, and waits for them.
    pub fn read<T: bytemuck::Pod>(&self, gpu: &Gpu) -> Result<Vec<T>> {
        let bytes = gpu.read(&self.buffer)?;
        let used = (u64::from(self.len) * u64::from(self.words) * 4) as usize;
        let whole = used - used % size_of::<T>().max(1);
        Ok(bytemuck::pod_collect_to_vec(&bytes[..whole]))
    }
}

/// Returns the storage texture format for elements of `words` words. `None` if only sampled textures of that
/// format are readable on every device.
pub(super) fn storage_format(words: u32) -> Option<wgpu::TextureFormat> {
    match words {
        1 => Some(wgpu::TextureFormat::R32Uint),
        4 => Some(wgpu::TextureFormat::Rgba32Uint),
        _ => None,
    }
}

/// Returns `number`, or `number` + 1 if it is a power of two, up to the adapter's maximum texture size.
/// llvmpipe compiles a new variant of a kernel when a texture's width or height changes between a power of
/// two and another number. Without powers of two, scenes and images of all sizes share compiled kernels.
pub fn avoid_power_of_two(gpu: &Gpu, number: u32) -> u32 {
    let least = number.max(3);
    let allowed = gpu.limits.max_texture_dimension_2d;
    (least + u32::from(least.is_power_of_two())).min(allowed.max(number))
}

fn texture(gpu: &Gpu, label: &str, words: u32, len: u32) -> Result<(wgpu::Texture, wgpu::TextureView)> {
    let rows = len.div_ceil(Arrays::WIDTH).max(1);
    let allowed = gpu.limits.max_texture_dimension_2d;
    if rows > allowed {
        return Err(Error::Limit {
            what: label.into(),
            needed: format!("{len} elements"),
            allowed: format!("{} elements", u64::from(allowed) * u64::from(Arrays::WIDTH)),
            by: format!("texture limit of {}", gpu.info.name),
        });
    }
    let height = avoid_power_of_two(gpu, rows);
    let (format, usage) = match storage_format(words) {
        Some(format) => (format, wgpu::TextureUsages::STORAGE_BINDING),
        None => (
            wgpu::TextureFormat::Rg32Uint,
            wgpu::TextureUsages::TEXTURE_BINDING,
        ),
    };
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d {
            width: Arrays::WIDTH,
            height,
            depth_or_array_layers: 1,
        },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
    Ok((texture, view))
}
