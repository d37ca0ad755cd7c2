//! What a bind group can hold: passes list their inputs and outputs as they are.

use super::{array::Array, device::Gpu};

/// A resource that can be bound.
pub trait Bind {
    /// The resource for a bind group.
    fn binding(&self) -> wgpu::BindingResource<'_>;
}

impl Bind for wgpu::Buffer {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        self.as_entire_binding()
    }
}

impl Bind for wgpu::BufferBinding<'_> {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Buffer(self.clone())
    }
}

impl Bind for wgpu::TextureView {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::TextureView(self)
    }
}

impl Bind for wgpu::Sampler {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        wgpu::BindingResource::Sampler(self)
    }
}

/// An array as shaders read it; one that is written is bound as [`Array::buffer`].
impl Bind for Array {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        self.read_binding()
    }
}

/// A bind group of `resources`, bound at 0, 1, 2, ….
pub fn bind_group(
    gpu: &Gpu,
    label: &str,
    layout: &wgpu::BindGroupLayout,
    resources: &[&dyn Bind],
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(resources)
        .map(|(binding, resource)| wgpu::BindGroupEntry {
            binding,
            resource: resource.binding(),
        })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout,
        entries: &entries,
    })
}
