//! Driver bugs, by the smallest shaders that trigger them. Each test asserts that the bug exists where canopy
//! works around it, and nowhere else.

use crate::common::gpu;
use canopy::gpu::Gpu;
use wgpu::{BufferUsages as Buffer, TextureUsages as Usage};

/// The four floats that `shader` stores for each of 64 threads, with `view` bound.
fn found(gpu: &Gpu, shader: &str, view: &wgpu::TextureView) -> Vec<[f32; 4]> {
    let module = gpu.device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(shader.into()),
    });
    let pipeline = gpu
        .device
        .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        });
    let out = gpu.buffer("found", 64 * 16, Buffer::STORAGE | Buffer::COPY_SRC);
    let sampler = gpu.device.create_sampler(&wgpu::SamplerDescriptor {
        mag_filter: wgpu::FilterMode::Linear,
        ..Default::default()
    });
    let entry = |binding, resource| wgpu::BindGroupEntry { binding, resource };
    let group = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            entry(0, out.as_entire_binding()),
            entry(1, wgpu::BindingResource::TextureView(view)),
            entry(2, wgpu::BindingResource::Sampler(&sampler)),
        ],
    });
    let mut encoder = gpu.encoder("found");
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(&pipeline);
    pass.set_bind_group(0, &group, &[]);
    pass.dispatch_workgroups(1, 1, 1);
    drop(pass);
    gpu.queue.submit([encoder.finish()]);
    gpu.read_first(&out, 64).unwrap()
}

/// A white cube with 4 × 4 texels per face.
fn white_cube(gpu: &Gpu) -> wgpu::TextureView {
    let size = wgpu::Extent3d {
        width: 4,
        height: 4,
        depth_or_array_layers: 6,
    };
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size,
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format: wgpu::TextureFormat::Rgba8Unorm,
        usage: Usage::TEXTURE_BINDING | Usage::COPY_DST,
        view_formats: &[],
    });
    let layout = wgpu::TexelCopyBufferLayout {
        offset: 0,
        bytes_per_row: Some(16),
        rows_per_image: Some(4),
    };
    let texels = [255; 4 * 4 * 4 * 6];
    gpu.queue
        .write_texture(texture.as_image_copy(), &texels, layout, size);
    texture.create_view(&wgpu::TextureViewDescriptor {
        dimension: Some(wgpu::TextureViewDimension::Cube),
        ..Default::default()
    })
}

/// SwiftShader copies texels of the neighbouring faces to the edges of each face before draws, but never
/// before dispatches. A filter in a dispatch reads uninitialised memory there. See `cube_edges`.
#[test]
fn dispatches_filter_cubes_across_the_edges_of_faces() {
    let gpu = gpu();
    let shader = "
        @group(0) @binding(0) var<storage, read_write> found: array<vec4f, 64>;
        @group(0) @binding(1) var cube: texture_cube<f32>;
        @group(0) @binding(2) var linear: sampler;
        @compute @workgroup_size(64)
        fn at_edges(@builtin(local_invocation_index) i: u32) {
            let along = vec3f(1.0, f32(i) / 64.0, 0.99);
            found[i] = textureSampleLevel(cube, linear, along, 0.0);
        }";
    let found = found(&gpu, shader, &white_cube(&gpu));
    let is_white = found
        .iter()
        .all(|texel| texel.iter().all(|c| (c - 1.0).abs() < 1e-3));
    assert_eq!(is_white, !gpu.capabilities.cube_edges_drawn, "{found:?}");
}

/// SwiftShader returns π for atan2(−0, 1). Vulkan allows an error of 4,096 ulp, and either sign of zero. See
/// bvh/angle.wgsl.
#[test]
fn the_angle_of_negative_zero_is_zero() {
    let gpu = gpu();
    let shader = "
        @group(0) @binding(0) var<storage, read_write> found: array<vec4f, 64>;
        @group(0) @binding(1) var cube: texture_cube<f32>;
        @group(0) @binding(2) var linear: sampler;
        @compute @workgroup_size(64)
        fn angles(@builtin(local_invocation_index) i: u32) {
            let white = textureSampleLevel(cube, linear, vec3f(1.0, 0.0, 0.0), 0.0).x;
            // No compiler can prove that this is −0.
            let zero = bitcast<f32>(0x80000000u + u32(white + 0.5) - 1u);
            found[i] = vec4f(atan2(zero, 1.0), atan2(select(zero, 0.0, zero == 0.0), 1.0), white, 0.0);
        }";
    let found = found(&gpu, shader, &white_cube(&gpu));
    let angle = |column: usize| found.iter().fold(0.0_f32, |most, a| most.max(a[column].abs()));
    assert_eq!(
        angle(0) == 0.0,
        !gpu.info.driver.starts_with("SwiftShader"),
        "{found:?}"
    );
    assert_eq!(angle(1), 0.0, "the way around it");
}
