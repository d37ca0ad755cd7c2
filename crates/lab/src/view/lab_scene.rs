//! Laboratory structure over the triangles of a frame, in GPU memory.

use crate::{
    BuiltStructure, Triangle, Uploaded,
    settings::{self, LabStructure, LabTest, LabWalk},
};
use canopy_bvh::{Result, gpu::Gpu};
use glam::{Vec2, Vec3};
use std::ops::Range;

/// Triangles of a frame, and the structures built over them.
#[derive(Debug)]
pub struct LabGeometry {
    triangles: Vec<Triangle>,
    made: Vec<(LabStructure, BuiltStructure)>,
}

/// Test, traversal and structure to build over a [`LabGeometry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LabBuild {
    /// Triangle test, which determines how triangles are stored.
    pub test: LabTest,
    /// Traversal of the structure.
    pub walk: LabWalk,
    /// Acceleration structure.
    pub structure: LabStructure,
    /// Maximum number of triangles in a leaf.
    pub leaf: u32,
}

impl From<&settings::Lab> for LabBuild {
    fn from(settings: &settings::Lab) -> Self {
        Self {
            test: settings.test,
            walk: settings.walk,
            structure: settings.structure,
            leaf: settings.leaf,
        }
    }
}

/// Structure in the layout of one traversal, over triangles in the format of one test.
#[derive(Debug)]
pub struct LabScene {
    /// Test, traversal and structure that were built.
    pub build: LabBuild,
    /// Statistics of the structure.
    pub figures: LabStatistics,
    pub(crate) uploaded: Uploaded,
    /// Octahedral normal of each triangle, indexed by `LabHit::leaf`.
    pub(crate) normals: wgpu::Buffer,
}

/// Statistics of a structure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabStatistics {
    /// Number of triangles.
    pub triangles: u32,
    /// Number of nodes or cells.
    pub nodes: u32,
    /// Size of nodes, links and triangles in bytes.
    pub bytes: u64,
    /// Build time in wall-clock milliseconds, without the layout for the traversal.
    pub build_ms: f64,
}

impl LabGeometry {
    /// Selects the merged triangles in `ranges` whose corners are finite. Corners become relative to
    /// `origin`, like in the frame.
    pub fn new(
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        ranges: impl IntoIterator<Item = Range<u32>>,
        origin: Vec3,
    ) -> Self {
        let ranges = ranges.into_iter();
        let shown = ranges.flat_map(|range| &triangles[range.start as usize..range.end as usize]);
        let corners = |triangle: &[u32; 3]| triangle.map(|vertex| positions[vertex as usize] - origin);
        // canopy's own BVHs leave out triangles that are not finite.
        let is_finite = |triangle: &Triangle| triangle.iter().all(|corner| corner.is_finite());
        Self {
            triangles: shown.map(corners).filter(is_finite).collect(),
            made: Vec::new(),
        }
    }

    /// Returns the triangles of the frame.
    pub fn triangles(&self) -> &[Triangle] {
        &self.triangles
    }

    /// Builds the structure if it has not been built yet, lays it out and uploads it. Blocks on the GPU.
    ///
    /// # Errors
    ///
    /// * [`Error::Argument`](canopy_bvh::Error::Argument) if the walk cannot traverse the structure, or there
    ///   is no triangle.
    /// * [`Error::Limit`](canopy_bvh::Error::Limit) if the structure is too large or too deep.
    /// * Any error of the device.
    pub fn build(&mut self, gpu: &Gpu, build: LabBuild) -> Result<LabScene> {
        build.structure.check(build.walk)?;
        let made = |made: &(LabStructure, BuiltStructure)| made.0 == build.structure;
        let at = match self.made.iter().position(made) {
            Some(at) => at,
            None => {
                let made = BuiltStructure::new(gpu, &self.triangles, build.structure)?;
                self.made.push((build.structure, made));
                self.made.len() - 1
            }
        };
        let made = &self.made[at].1;
        let built = made.laid_out(build.walk, build.leaf)?;
        let uploaded = Uploaded::new(gpu, &built, &self.triangles, build.test, build.walk)?;
        let normal = |triangle: &u32| {
            let [a, b, c] = self.triangles[*triangle as usize].map(Vec3::as_dvec3);
            octahedral((b - a).cross(c - a).normalize_or_zero().as_vec3())
        };
        let normals: Vec<u32> = built.order.iter().map(normal).collect();
        let usage = wgpu::BufferUsages::STORAGE;
        Ok(LabScene {
            build,
            figures: LabStatistics {
                triangles: self.triangles.len() as u32,
                nodes: built.node_count,
                bytes: built.bytes(),
                build_ms: made.build_ms,
            },
            uploaded,
            normals: gpu.catch(|| gpu.buffer_with("lab.normals", &normals, usage))?,
        })
    }
}

/// Packs a unit vector like `math/octahedral.wgsl`.
fn octahedral(normal: Vec3) -> u32 {
    let sum = (normal.x.abs() + normal.y.abs() + normal.z.abs()).max(1e-20);
    let p = normal.truncate() / sum;
    let p = match normal.z >= 0.0 {
        true => p,
        false => (1.0 - Vec2::new(p.y, p.x).abs()) * Vec2::ONE.copysign(p),
    };
    let [x, y] = p
        .to_array()
        .map(|part| (part.clamp(-1.0, 1.0) * 32767.0).round() as i16);
    u32::from(x as u16) | u32::from(y as u16) << 16
}
