//! The settings of a pass: one struct in one uniform buffer, which is made once and written whenever the pass
//! is recorded.

use super::{bind::Bind, device::Gpu};
use bytemuck::Pod;
use std::marker::PhantomData;

/// The buffer of a `T`.
///
/// Writes go through the queue, before all that is submitted next: a pass that is recorded twice in one
/// submission with different settings needs a [`UniformArray`](super::UniformArray).
#[derive(Debug)]
pub struct Uniform<T> {
    buffer: wgpu::Buffer,
    of: PhantomData<T>,
}

impl<T: Pod> Uniform<T> {
    /// A buffer of zeros.
    pub fn new(gpu: &Gpu, label: &str) -> Self {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        Self {
            buffer: gpu.buffer(label, size_of::<T>() as u64, usage),
            of: PhantomData,
        }
    }

    /// Replaces the settings for all that is submitted from now on.
    pub fn write(&self, gpu: &Gpu, value: &T) {
        gpu.queue.write_buffer(&self.buffer, 0, bytemuck::bytes_of(value));
    }
}

impl<T> Bind for Uniform<T> {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        self.buffer.as_entire_binding()
    }
}
