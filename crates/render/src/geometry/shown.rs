//! The triangles that a scene shows, in the numbers of `canopy export`, and trees over them.

use canopy_bvh::{
    Result,
    accel::{Codes, Geometry, Lbvh, MeshRange, Nearest, Tree, Work},
    gpu::Gpu,
};
use canopy_scene::{Pose, Scene};
use glam::Vec3;
use std::ops::Range;

/// The triangles that `canopy export` writes.
#[derive(Debug)]
pub struct Shown {
    /// World positions of all vertices, those of hidden meshes too.
    pub positions: Vec<Vec3>,
    /// Vertices of each triangle, mesh after mesh.
    pub indices: Vec<[u32; 3]>,
    /// The part of `indices` that each mesh fills.
    pub meshes: ShownMeshes,
}

/// The triangles of each mesh that is shown.
#[derive(Debug, Clone, Default)]
pub struct ShownMeshes(Vec<MeshRange>);

impl Shown {
    /// Of merged triangles, those in `ranges`, which is a range a mesh.
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
            meshes: ShownMeshes(meshes),
        }
    }

    /// Index in `indices` of the triangle that a query has found.
    pub fn triangle(&self, found: &Nearest) -> u32 {
        self.meshes.0[found.mesh as usize].first_triangle + found.triangle
    }

    /// Trees over them.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](canopy_bvh::Error::Limit) where there are too many for the adapter.
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

impl ShownMeshes {
    /// The mesh of a triangle, and the triangle's number in it.
    pub fn name(&self, triangle: u32) -> [u32; 2] {
        let after = self.0.partition_point(|mesh| mesh.first_triangle <= triangle);
        // Meshes without triangles begin where the one after them does.
        let mesh = after - 1;
        [mesh as u32, triangle - self.0[mesh].first_triangle]
    }
}

/// The ranges of the meshes that `pose` shows, of `ranges`, which has one for each instance of the scene.
pub fn visible<'a>(
    scene: &'a Scene,
    pose: &'a Pose,
    ranges: impl IntoIterator<Item = Range<u32>> + 'a,
) -> impl Iterator<Item = Range<u32>> + 'a {
    let all = scene.instances().zip(ranges);
    all.filter_map(|((node, _), range)| pose.visible[node].then_some(range))
}
