//! Allocation of the BVHs of an input, the same for all suites.

use super::inputs::Input;
use crate::{
    Result,
    accel::{Codes, Geometry, Lbvh, Tree, codes::Sample},
    gpu::Gpu,
};
use glam::Vec3;

/// Returns samples of each mesh's triangles, with its box.
fn samples(input: &Input) -> impl Iterator<Item = Sample> {
    let position = |vertex: &u32| Vec3::from(input.positions[*vertex as usize]);
    input.meshes.iter().map(move |mesh| {
        let range = mesh.first_triangle as usize..(mesh.first_triangle + mesh.triangle_count) as usize;
        let triangles = &input.indices[range];
        let corners = || triangles.as_flattened().iter().map(position);
        let bounds = [
            corners().fold(Vec3::INFINITY, Vec3::min),
            corners().fold(Vec3::NEG_INFINITY, Vec3::max),
        ];
        let centroid = |i: usize| triangles[i].iter().map(position).sum::<Vec3>() / 3.0;
        Sample::new(bounds, triangles.len(), centroid)
    })
}

/// Uploads `input` and allocates its BVHs.
///
/// # Errors
///
/// [`Error::Limit`](crate::Error::Limit) if they exceed the adapter's limits.
pub(in crate::cli) fn allocate(gpu: &Gpu, lbvh: &Lbvh, input: &Input, code_bits: u32) -> Result<Tree> {
    let codes = Codes::of_bits(code_bits, samples(input));
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    for (what, bytes) in [
        ("positions", size_of_val(input.positions.as_slice())),
        ("indices", size_of_val(input.indices.as_slice())),
        ("triangle_info", size_of_val(input.triangle_info.as_slice())),
    ] {
        gpu.check_binding(what, bytes as u64)?;
    }
    Ok(gpu.catch(|| {
        let geometry = Geometry {
            positions: &gpu.buffer_with("bench.positions", &input.positions, storage),
            indices: &gpu.buffer_with("bench.indices", &input.indices, storage),
            meshes: &input.meshes,
            triangle_info: Some(&gpu.buffer_with("bench.triangle_info", &input.triangle_info, storage)),
        };
        lbvh.tree(gpu, &geometry, codes)
    })??)
}
