//! Parameters of a pass: one struct in a uniform buffer, which is created once and written whenever the pass
//! is recorded.

use super::{bind::Bind, device::Gpu};
use bytemuck::Pod;
use std::marker::PhantomData;

/// Uniform buffer of a `T`.
///
/// Writes go through the queue and take effect before the commands of the next submission. If a pass is
/// recorded twice in one submission with different parameters, use a [`UniformArray`](super::UniformArray).
#[derive(Debug)]
pub struct Uniform<T> {
    buffer: wgpu::Buffer,
    of: PhantomData<T>,
}

impl<T: Pod> Uniform<T> {
    /// Creates a zeroed buffer.
    pub fn new(gpu: &Gpu, label: &str) -> Self {
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        Self {
            buffer: gpu.buffer(label, size_of::<T>() as u64, usage),
            of: PhantomData,
        }
    }

    /// Replaces the parameters for everything that is submitted from now on.
    pub fn write(&self, gpu: &Gpu, value: &T) {
        gpu.queue.write_buffer(&self.buffer, 0, bytemuck::bytes_of(value));
    }
}

impl<T> Bind for Uniform<T> {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        self.buffer.as_entire_binding()
    }
}
