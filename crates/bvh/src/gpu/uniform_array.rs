//! Uniforms of one type in a single buffer. A bind group is bound with the dynamic offset of one of them.

use super::device::Gpu;
use crate::{Error, Result};
use bytemuck::Pod;
use std::marker::PhantomData;

/// Array of uniforms. In a layout it is a [`Binding::UniformAt`](super::pass::Binding::UniformAt).
#[derive(Debug)]
pub struct UniformArray<T> {
    buffer: wgpu::Buffer,
    /// Stride in bytes.
    stride: u32,
    len: usize,
    of: PhantomData<T>,
}

impl<T: Pod> UniformArray<T> {
    /// Creates a buffer of `values` with a label.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the values exceed the device's buffer limit.
    pub fn new(gpu: &Gpu, label: &str, values: impl ExactSizeIterator<Item = T>) -> Result<Self> {
        let alignment = gpu.limits.min_uniform_buffer_offset_alignment;
        let stride = (size_of::<T>() as u32).next_multiple_of(alignment);
        let len = values.len();
        let bytes = u64::from(stride) * len as u64;
        // Dynamic offsets are 32-bit numbers.
        let allowed = gpu.limits.max_buffer_size.min(u64::from(u32::MAX));
        if bytes > allowed {
            return Err(Error::Limit {
                what: "the scene".into(),
                needed: format!("{len} {label}"),
                allowed: format!("{} {label}", allowed / u64::from(stride)),
                by: format!("buffer limit of {}", gpu.info.name),
            });
        }
        // Space for at least one value, so that the buffer can be bound.
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

    /// Replaces one value.
    pub fn write(&self, gpu: &Gpu, index: usize, value: &T) {
        let offset = u64::from(self.offset(index));
        gpu.queue
            .write_buffer(&self.buffer, offset, bytemuck::bytes_of(value));
    }

    /// Replaces all values. If their number has changed, it creates a new buffer.
    ///
    /// # Errors
    ///
    /// The errors of [`UniformArray::new`].
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

    /// Returns the binding of one value. For use with dynamic offsets, bind the first.
    pub fn at(&self, index: usize) -> wgpu::BufferBinding<'_> {
        wgpu::BufferBinding {
            buffer: &self.buffer,
            offset: u64::from(self.offset(index)),
            size: wgpu::BufferSize::new(size_of::<T>() as u64),
        }
    }

    /// Returns the complete buffer, for shaders that read it as an array of words.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// Returns the dynamic offset of a value, in bytes.
    pub fn offset(&self, index: usize) -> u32 {
        self.stride * index as u32
    }
}
