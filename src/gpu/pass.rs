//! Labelled compute pipelines, bind groups and dispatches.

use super::{Gpu, shader};
use crate::Result;

/// A compute pipeline with the layout that its shader implies.
pub fn compute_pipeline(gpu: &Gpu, path: &str, entry: &str) -> Result<wgpu::ComputePipeline> {
    let module = shader::module(gpu, path)?;
    compute_pipeline_with(gpu, &module, entry, None)
}

/// As [`compute_pipeline`], from a module that holds several entry points, with an explicit layout where bind groups are shared.
pub fn compute_pipeline_with(gpu: &Gpu, module: &wgpu::ShaderModule, entry: &str, layouts: Option<&[&wgpu::BindGroupLayout]>) -> Result<wgpu::ComputePipeline> {
    let layout = layouts.map(|layouts| pipeline_layout(gpu, entry, layouts));
    gpu.catch(|| {
        gpu.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(entry),
            layout: layout.as_ref(),
            module,
            entry_point: Some(entry),
            compilation_options: wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory: false, ..Default::default() },
            cache: None,
        })
    })
}

/// A pipeline layout over `layouts`, group 0 first.
pub fn pipeline_layout(gpu: &Gpu, label: &str, layouts: &[&wgpu::BindGroupLayout]) -> wgpu::PipelineLayout {
    let layouts: Vec<_> = layouts.iter().map(|layout| Some(*layout)).collect();
    gpu.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor { label: Some(label), bind_group_layouts: &layouts, immediate_size: 0 })
}

/// A bind group of `resources`, bound at 0, 1, 2, ….
pub fn bind_group(gpu: &Gpu, label: &str, layout: &wgpu::BindGroupLayout, resources: &[wgpu::BindingResource<'_>]) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..).zip(resources).map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() }).collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label: Some(label), layout, entries: &entries })
}

/// Dispatches one-dimensional work of `groups` workgroups. Past 65,535 it becomes two-dimensional, and the shader's
/// `workgroup_index` (common/dispatch.wgsl) flattens it again; the last row may run over, so shaders check their bounds.
pub fn dispatch(pass: &mut wgpu::ComputePass<'_>, groups: u32) {
    const LIMIT: u32 = 65_535;
    let rows = groups.div_ceil(LIMIT);
    pass.dispatch_workgroups(if rows > 1 { groups.div_ceil(rows) } else { groups }, rows.max(1), 1);
}

/// A texture of the frame: one level, one layer, with a default view.
pub fn target(gpu: &Gpu, label: &str, size: [u32; 2], format: wgpu::TextureFormat, usage: wgpu::TextureUsages) -> wgpu::Texture {
    gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: Some(label),
        size: wgpu::Extent3d { width: size[0].max(1), height: size[1].max(1), depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    })
}
