//! Visible triangles of a scene, numbered as in `canopy export`, and BVHs over them.

use canopy_bvh::{
    Result,
    accel::{Codes, Geometry, Lbvh, MeshRange, Nearest, Tree, Work},
    gpu::Gpu,
};
use canopy_scene::{Pose, Scene};
use glam::Vec3;
use std::ops::Range;

/// Triangles that `canopy export` writes.
#[derive(Debug)]
pub struct VisibleGeometry {
    /// World positions of all vertices, including vertices of hidden meshes.
    pub positions: Vec<Vec3>,
    /// Vertex indices of each triangle, mesh after mesh.
    pub indices: Vec<[u32; 3]>,
    /// Range of `indices` that each mesh fills.
    pub meshes: VisibleMeshes,
}

/// Triangle range of each visible mesh.
#[derive(Debug, Clone, Default)]
pub struct VisibleMeshes(Vec<MeshRange>);

impl VisibleGeometry {
    /// Selects the merged triangles in `ranges`, which has a range per mesh.
    pub fn new(
        positions: Vec<Vec3>,
        triangles: &[[u32; 3]],
        ranges: impl IntoIterator<Item = Range<u32>>,
    ) -> Self {
        let (mut indices, mut meshes) = (Vec::new(), Vec::new());
        for range in ranges {
            meshes.push(MeshRange {
                first_triangle: indices.len() as u32,
                triangle_count: range.end - range.start,
                ..MeshRange::default()
            });
            indices.extend(&triangles[range.start as usize..range.end as usize]);
        }
        Self {
            positions,
            indices,
            meshes: VisibleMeshes(meshes),
        }
    }

    /// Returns the index in `indices` of the triangle that a query has found.
    pub fn triangle(&self, found: &Nearest) -> u32 {
        self.meshes.0[found.mesh as usize].first_triangle + found.triangle
    }

    /// Builds the BVHs over the triangles.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](canopy_bvh::Error::Limit) if there are too many for the adapter.
    pub fn tree(&self, gpu: &Gpu) -> Result<Tree> {
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
            meshes: &self.meshes.0,
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

impl VisibleMeshes {
    /// Returns the mesh of a triangle, and the triangle's index in it.
    pub fn name(&self, triangle: u32) -> [u32; 2] {
        let after = self.0.partition_point(|mesh| mesh.first_triangle <= triangle);
        // An empty mesh begins at the same triangle as the mesh after it.
        let mesh = after - 1;
        [mesh as u32, triangle - self.0[mesh].first_triangle]
    }
}

/// Returns the ranges of the meshes that `pose` shows. `ranges` has one for each instance of the scene.
pub fn visible<'a>(
    scene: &'a Scene,
    pose: &'a Pose,
    ranges: impl IntoIterator<Item = Range<u32>> + 'a,
) -> impl Iterator<Item = Range<u32>> + 'a {
    let all = scene.instances().zip(ranges);
    all.filter_map(|((node, _), range)| pose.visible[node].then_some(range))
}
