//! Triangles that BVHs are built over, in the caller's buffers.

use super::layout::MeshRange;
use crate::{
    Error, Result,
    gpu::{Array, Gpu},
};

/// Bound on the coordinates that a tree can hold: 2^50 metres (`bvh/box.wgsl`).
pub const COORDINATE_LIMIT: f32 = (1_u64 << 50) as f32;

/// Merged triangles in GPU memory. The buffers need the usages `STORAGE` and `COPY_SRC`. Every build reads
/// them.
#[derive(Debug, Clone, Copy)]
pub struct Geometry<'a> {
    /// World-space positions, three `f32` per vertex.
    pub positions: &'a wgpu::Buffer,
    /// Triangle list with absolute vertex indices, three `u32` per triangle. You must check their range.
    pub indices: &'a wgpu::Buffer,
    /// Ranges of the meshes: ascending triangle indices without gaps.
    pub meshes: &'a [MeshRange],
    /// Two `u32` per triangle: its mesh, combined with [`ANY_HIT_TEST`](super::layout::ANY_HIT_TEST), and
    /// user data that any-hit tests see as `payload`. With `None`, triangles get their mesh and no test.
    pub triangle_info: Option<&'a wgpu::Buffer>,
}

/// Geometry in the form that shaders read.
#[derive(Debug)]
pub(super) struct GeometryArrays {
    pub(super) positions: Array,
    pub(super) indices: Array,
    pub(super) triangle_info: Array,
}

impl Geometry<'_> {
    /// Returns the triangle count of all meshes. Fails if there are gaps between meshes or the index buffer
    /// is too short.
    pub(super) fn triangle_count(&self) -> Result<u32> {
        let mut end = 0;
        for (number, mesh) in self.meshes.iter().enumerate() {
            if mesh.first_triangle != end {
                return Err(Error::Tree(format!(
                    "mesh {number} begins at triangle {}, and the mesh before it ends at {end}",
                    mesh.first_triangle
                )));
            }
            end = end.saturating_add(mesh.triangle_count);
        }
        let held = self.indices.size() / 12;
        if u64::from(end) > held {
            return Err(Error::Tree(format!(
                "the meshes have {end} triangles, and the index buffer holds {held}"
            )));
        }
        let named = self.triangle_info.map_or(u64::MAX, |info| info.size() / 8);
        if u64::from(end) > named {
            return Err(Error::Tree(format!(
                "the meshes have {end} triangles, and `triangle_info` has entries for {named}"
            )));
        }
        Ok(end)
    }

    pub(super) fn arrays(&self, gpu: &Gpu, triangle_count: u32) -> Result<GeometryArrays> {
        let made;
        let triangle_info = match self.triangle_info {
            Some(buffer) => buffer,
            None => {
                made = self.make_triangle_info(gpu, triangle_count)?;
                &made
            }
        };
        let vertex_words = u32::try_from(self.positions.size() / 4).unwrap_or(u32::MAX);
        let array = |label, words, buffer, len| Array::from_buffer(gpu, label, words, buffer, len);
        Ok(GeometryArrays {
            positions: array("lbvh.positions", 1, self.positions, vertex_words)?,
            indices: array("lbvh.indices", 1, self.indices, 3 * triangle_count)?,
            triangle_info: array("lbvh.triangle_info", 2, triangle_info, triangle_count)?,
        })
    }

    /// Creates a buffer with the mesh of each triangle, without tests and user data.
    fn make_triangle_info(&self, gpu: &Gpu, triangle_count: u32) -> Result<wgpu::Buffer> {
        gpu.check_binding("lbvh.triangle_info", 8 * u64::from(triangle_count))?;
        let info: Vec<[u32; 2]> = (0..)
            .zip(self.meshes)
            .flat_map(|(number, mesh)| (0..mesh.triangle_count).map(move |_| [number, 0]))
            .collect();
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        Ok(gpu.buffer_with("lbvh.triangle_info", &info, usage))
    }
}
