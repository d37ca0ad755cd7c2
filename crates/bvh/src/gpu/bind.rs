//! Resources of bind groups, so that passes can list their inputs and outputs directly.

use super::{array::Array, device::Gpu};

/// Resource that can be bound.
pub trait Bind {
    /// Returns the resource for a bind group entry.
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

/// Array for reading. To bind it for writing, use [`Array::buffer`].
impl Bind for Array {
    fn binding(&self) -> wgpu::BindingResource<'_> {
        self.read_binding()
    }
}

/// Creates a bind group of `resources` at bindings 0, 1, 2, ….
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
