//! Large arrays of 1, 2 or 4 words, held as the adapter reads them fastest: in storage buffers, or on software adapters in textures, whose
//! loads are vectorised there while a buffer's are made lane by lane (BENCHMARKS.md has the figures).
//!
//! A shader declares one by a line `#array read 0 1 positions: u32` (group 0, binding 1) and gets `fn positions(i: u32) -> u32`; with
//! `write`, `fn positions(i: u32, value: u32)`. Elements are `u32`, `vec2u` or `vec4u`.

use super::Gpu;
use crate::{Error, Result};

/// How arrays are held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrays {
    /// In storage buffers.
    Buffers,
    /// In textures of [`Arrays::WIDTH`] texels a row.
    Textures,
}

impl Arrays {
    /// Elements in a row of a texture.
    pub const WIDTH: u32 = 8192;
}

/// An array on the GPU.
#[derive(Debug, Clone)]
pub struct Array {
    words: u32,
    len: u32,
    held: Held,
}

#[derive(Debug, Clone)]
enum Held {
    Buffer(wgpu::Buffer),
    Texture(wgpu::Texture, wgpu::TextureView),
}

/// The format of an element of `words` words.
pub(super) fn texel_format(words: u32) -> wgpu::TextureFormat {
    match words {
        1 => wgpu::TextureFormat::R32Uint,
        2 => wgpu::TextureFormat::Rg32Uint,
        _ => wgpu::TextureFormat::Rgba32Uint,
    }
}

impl Array {
    /// Zeros: `len` elements of `words` (1, 2 or 4) words each.
    pub fn new(gpu: &Gpu, label: &str, words: u32, len: u32) -> Result<Self> {
        let bytes = u64::from(words) * 4 * u64::from(len);
        let held = match gpu.arrays {
            Arrays::Buffers => {
                gpu.check_binding(label, bytes)?;
                let usage = wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST;
                Held::Buffer(gpu.buffer(label, bytes, usage))
            }
            Arrays::Textures => Self::texture(gpu, label, words, len)?,
        };
        Ok(Self { words, len, held })
    }

    /// What a shader reads in place of `buffer`: the buffer itself, or a texture that [`Array::mirror`] fills from it.
    pub fn of_buffer(gpu: &Gpu, label: &str, words: u32, buffer: &wgpu::Buffer) -> Result<Self> {
        let len = u32::try_from(buffer.size() / (4 * u64::from(words))).unwrap_or(u32::MAX);
        let held = match gpu.arrays {
            Arrays::Buffers => Held::Buffer(buffer.clone()),
            Arrays::Textures => Self::texture(gpu, label, words, len)?,
        };
        Ok(Self { words, len, held })
    }

    fn texture(gpu: &Gpu, label: &str, words: u32, len: u32) -> Result<Held> {
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
        let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: wgpu::Extent3d {
                width: Arrays::WIDTH,
                height: rows,
                depth_or_array_layers: 1,
            },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: texel_format(words),
            usage: wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::STORAGE_BINDING
                | wgpu::TextureUsages::COPY_SRC
                | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Ok(Held::Texture(texture, view))
    }

    /// Elements.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// For a bind group.
    pub fn binding(&self) -> wgpu::BindingResource<'_> {
        match &self.held {
            Held::Buffer(buffer) => buffer.as_entire_binding(),
            Held::Texture(_, view) => wgpu::BindingResource::TextureView(view),
        }
    }

    /// Brings what `buffer` holds into the texture that stands for it; nothing where it stands for itself. `buffer` needs `COPY_SRC`.
    pub fn mirror(&self, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer) {
        let Held::Texture(texture, _) = &self.held else {
            return;
        };
        // A texture's rows are copied whole, but the last.
        for (row, rows, width) in [
            (0, self.len / Arrays::WIDTH, Arrays::WIDTH),
            (self.len / Arrays::WIDTH, 1, self.len % Arrays::WIDTH),
        ] {
            if rows == 0 || width == 0 {
                continue;
            }
            let bytes_per_row = Arrays::WIDTH * 4 * self.words;
            encoder.copy_buffer_to_texture(
                wgpu::TexelCopyBufferInfo {
                    buffer,
                    layout: wgpu::TexelCopyBufferLayout {
                        offset: u64::from(row) * u64::from(bytes_per_row),
                        bytes_per_row: Some(bytes_per_row),
                        rows_per_image: None,
                    },
                },
                wgpu::TexelCopyTextureInfo {
                    origin: wgpu::Origin3d { x: 0, y: row, z: 0 },
                    ..texture.as_image_copy()
                },
                wgpu::Extent3d {
                    width,
                    height: rows,
                    depth_or_array_layers: 1,
                },
            );
        }
    }

    /// Copies all of `source`, an array of the same shape.
    pub fn copy_from(&self, encoder: &mut wgpu::CommandEncoder, source: &Self) {
        match (&self.held, &source.held) {
            (Held::Buffer(to), Held::Buffer(from)) => {
                encoder.copy_buffer_to_buffer(from, 0, to, 0, to.size().min(from.size()));
            }
            (Held::Texture(to, _), Held::Texture(from, _)) => {
                encoder.copy_texture_to_texture(
                    from.as_image_copy(),
                    to.as_image_copy(),
                    to.size(),
                );
            }
            // Both were made by one device, which holds all arrays alike.
            _ => {}
        }
    }

    /// Writes elements from the first on, through the queue.
    pub fn write<T: bytemuck::NoUninit>(&self, gpu: &Gpu, contents: &[T]) {
        let mut bytes = bytemuck::cast_slice::<T, u8>(contents).to_vec();
        match &self.held {
            Held::Buffer(buffer) => gpu.queue.write_buffer(buffer, 0, &bytes),
            Held::Texture(texture, _) => {
                let bytes_per_row = (Arrays::WIDTH * 4 * self.words) as usize;
                let rows = bytes.len().div_ceil(bytes_per_row);
                bytes.resize(rows * bytes_per_row, 0);
                if rows > 0 {
                    gpu.queue.write_texture(
                        texture.as_image_copy(),
                        &bytes,
                        wgpu::TexelCopyBufferLayout {
                            offset: 0,
                            bytes_per_row: Some(bytes_per_row as u32),
                            rows_per_image: None,
                        },
                        wgpu::Extent3d {
                            width: Arrays::WIDTH,
                            height: rows as u32,
                            depth_or_array_layers: 1,
                        },
                    );
                }
            }
        }
    }

    /// Reads all elements back; this waits.
    pub fn read<T: bytemuck::Pod>(&self, gpu: &Gpu) -> Result<Vec<T>> {
        let bytes = match &self.held {
            Held::Buffer(buffer) => gpu.read(buffer)?,
            Held::Texture(texture, _) => gpu.read_texture(texture)?,
        };
        let used = (u64::from(self.len) * u64::from(self.words) * 4) as usize;
        let whole = used - used % size_of::<T>().max(1);
        Ok(bytemuck::pod_collect_to_vec(&bytes[..whole]))
    }
}
