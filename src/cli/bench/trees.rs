//! Trees over an input: the one place where the suites ask the builder for room.

use super::inputs::Input;
use crate::{
    Result,
    accel::{Codes, Geometry, Lbvh, Tree},
    gpu::Gpu,
};

/// Uploads `input` and makes room for its trees; fails when the adapter does not hold them.
pub(super) fn room(gpu: &Gpu, lbvh: &Lbvh, input: &Input, codes: Codes) -> Result<Tree> {
    let storage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
    for (what, bytes) in [
        ("positions", size_of_val(input.positions.as_slice())),
        ("indices", size_of_val(input.indices.as_slice())),
        ("triangle_info", size_of_val(input.triangle_info.as_slice())),
    ] {
        gpu.check_binding(what, bytes as u64)?;
    }
    gpu.catch(|| {
        let geometry = Geometry {
            positions: &gpu.buffer_with("bench.positions", &input.positions, storage),
            indices: &gpu.buffer_with("bench.indices", &input.indices, storage),
            triangle_info: &gpu.buffer_with("bench.triangle_info", &input.triangle_info, storage),
            meshes: &input.meshes,
        };
        lbvh.tree(gpu, &geometry, codes)
    })?
}
