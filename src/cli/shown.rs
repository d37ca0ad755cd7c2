//! The triangles that a scene shows, in the numbers of `canopy export`, and trees over them.

use crate::{
    Result,
    accel::{Codes, Geometry, Lbvh, MeshRange, Nearest, Sign, Tree, Work},
    gpu::Gpu,
    render::Merged,
    scene::{Pose, Scene, signed_surface::SignedSurface},
};
use glam::Vec3;

/// The triangles that `canopy export` writes.
#[derive(Debug)]
pub(super) struct Shown {
    /// World positions of all vertices, those of hidden meshes too.
    pub(super) positions: Vec<Vec3>,
    /// Vertices of each triangle, mesh after mesh.
    pub(super) indices: Vec<[u32; 3]>,
    /// The part of `indices` that each mesh fills.
    pub(super) meshes: Vec<MeshRange>,
}

impl Shown {
    pub(super) fn new(scene: &Scene, pose: &Pose, merged: &Merged) -> Self {
        let (mut indices, mut meshes) = (Vec::new(), Vec::new());
        for ((node, _), range) in scene.instances().zip(&merged.meshes) {
            if !pose.visible[node] {
                continue;
            }
            meshes.push(MeshRange {
                first_triangle: indices.len() as u32,
                triangle_count: range.end - range.start,
                ..MeshRange::default()
            });
            indices.extend(&merged.indices[range.start as usize..range.end as usize]);
        }
        Self {
            positions: merged.positions.clone(),
            indices,
            meshes,
        }
    }

    /// Index in `indices` of the triangle that a query has found.
    pub(super) fn triangle(&self, found: &Nearest) -> u32 {
        self.meshes[found.mesh as usize].first_triangle + found.triangle
    }

    /// The mesh of a triangle of `indices`, and the triangle's number in it.
    pub(super) fn name(&self, triangle: u32) -> [u32; 2] {
        let after = self
            .meshes
            .partition_point(|mesh| mesh.first_triangle <= triangle);
        // Meshes without triangles begin where the one after them does.
        let mesh = after - 1;
        [mesh as u32, triangle - self.meshes[mesh].first_triangle]
    }

    /// What tells their inside: the side of the nearest surface where they are one closed mesh.
    pub(super) fn sign(&self) -> Sign {
        let filled = self.meshes.iter().filter(|mesh| mesh.triangle_count > 0);
        let is_closed = || SignedSurface::new(&self.positions, &self.indices).open_edges() == 0;
        match filled.count() {
            1 if is_closed() => Sign::Pseudonormal,
            _ => Sign::Winding,
        }
    }

    /// Trees over them.
    pub(super) fn tree(&self, gpu: &Gpu) -> Result<Tree> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC;
        let (positions, indices) = gpu.catch(|| {
            (
                gpu.buffer_with("shown.positions", &self.positions, usage),
                gpu.buffer_with("shown.indices", &self.indices, usage),
            )
        })?;
        let geometry = Geometry {
            positions: &positions,
            indices: &indices,
            meshes: &self.meshes,
            triangle_info: None,
        };
        let lbvh = Lbvh::new(gpu);
        let mut tree = lbvh.tree(gpu, &geometry, Codes::Bits30)?;
        let mut encoder = gpu.encoder("shown");
        lbvh.record(gpu, &mut encoder, &mut tree, Work::Rebuild)?;
        gpu.queue.submit([encoder.finish()]);
        Ok(tree)
    }
}
