//! Uniforms of one type side by side in one buffer: a bind group holds all of them, and is bound with the
//! offset of one.

use super::device::Gpu;
use crate::{Error, Result};
use bytemuck::Pod;
use std::marker::PhantomData;

/// The buffer. In a layout it is a [`Binding::UniformAt`](super::pass::Binding::UniformAt).
#[derive(Debug)]
pub struct UniformArray<T> {
    buffer: wgpu::Buffer,
    /// Bytes from one to the next.
    stride: u32,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Pod> UniformArray<T> {
    /// Holds `values`, which are called `label`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where the device has no buffer that holds them.
    pub fn new(gpu: &Gpu, label: &str, values: impl ExactSizeIterator<Item = T>) -> Result<Self> {
        let alignment = gpu.limits.min_uniform_buffer_offset_alignment;
        let stride = (size_of::<T>() as u32).next_multiple_of(alignment);
        let len = values.len();
        let bytes = u64::from(stride) * len as u64;
        // An offset is a number of 32 bits.
        let allowed = gpu.limits.max_buffer_size.min(u64::from(u32::MAX));
        if bytes > allowed {
            return Err(Error::Limit {
                what: "the scene".into(),
                needed: format!("{len} {label}"),
                allowed: format!("{} {label}", allowed / u64::from(stride)),
                by: format!("buffer limit of {}", gpu.info.name),
            });
        }
        // At least one, to be bound.
        let mut contents = vec![0_u8; bytes.max(stride.into()) as usize];
        for (slot, value) in contents.chunks_exact_mut(stride as usize).zip(values) {
            slot[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        }
        Ok(Self {
            buffer: gpu.buffer_with(
                label,
                &contents,
                wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC,
            ),
            stride,
            len,
            of: PhantomData,
        })
    }

    /// Replaces one of them.
    pub fn write(&self, gpu: &Gpu, index: usize, value: &T) {
        let offset = u64::from(self.offset(index));
        gpu.queue
            .write_buffer(&self.buffer, offset, bytemuck::bytes_of(value));
    }

    /// Replaces all of them, in another buffer where their number differs.
    ///
    /// # Errors
    ///
    /// Those of [`UniformArray::new`].
    pub fn write_all(&mut self, gpu: &Gpu, label: &str, values: &[T]) -> Result<()> {
        if self.len != values.len() {
            *self = Self::new(gpu, label, values.iter().copied())?;
        } else {
            for (index, value) in values.iter().enumerate() {
                self.write(gpu, index, value);
            }
        }
        Ok(())
    }

    /// One of them, for a bind group; the first where it is bound with the offset of any.
    pub fn at(&self, index: usize) -> wgpu::BufferBinding<'_> {
        wgpu::BufferBinding {
            buffer: &self.buffer,
            offset: u64::from(self.offset(index)),
            size: wgpu::BufferSize::new(size_of::<T>() as u64),
        }
    }

    /// All of them, for shaders that read them as an array of words.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// The dynamic offset of one of them, in bytes.
    pub fn offset(&self, index: usize) -> u32 {
        self.stride * index as u32
    }
}
