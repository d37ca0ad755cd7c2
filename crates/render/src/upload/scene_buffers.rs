//! Parts of a scene in GPU memory that are uploaded once and only read by frames. `scene_state` holds the
//! parts that frames change.

use crate::{
    bindings::Layouts,
    materials::{Materials, Surface},
    raster::draw_lists::{DrawLists, Run},
    volumes::volume_grids::VolumeGrids,
};
use canopy_bvh::{
    accel::MeshRange,
    gpu::{Array, Bind, Gpu, bind_group},
};
use canopy_scene::bounds::{Aabb, Bounds};
use glam::Vec3;

/// Buffers of an uploaded scene.
#[derive(Debug)]
pub struct SceneBuffers {
    /// World positions, three floats per vertex; written by `deform`.
    pub positions: Array,
    /// World normal (3 floats) and tangent (4 floats) of each vertex; written by `deform`.
    pub frames: Array,
    /// UV sets and colour of each vertex: 24 bytes.
    pub vertices: wgpu::Buffer,
    /// Triangle list, then two vertex indices per line, then the same index twice per point, then the ground.
    pub indices: Array,
    /// Mesh and material of each triangle, then of each line and point.
    pub triangle_info: wgpu::Buffer,
    /// Number of vertices in the merged buffers.
    pub vertex_count: u32,
    /// Number of triangles in the merged buffers.
    pub triangle_count: u32,
    /// First of the ground's two triangles. They come after everything else and belong to no mesh and no BVH.
    pub ground_triangle: u32,
    /// Numbers of lines and points in the merged buffers.
    pub line_and_point_counts: [u32; 2],
    /// Range of each mesh instance.
    pub meshes: Vec<MeshRange>,
    /// Bind group of `Layouts::tree`.
    pub tree_group: wgpu::BindGroup,
    /// Bind group of `Layouts::tree` with the nodes for rays.
    pub ray_group: wgpu::BindGroup,
    /// Bind group of `Layouts::scene`.
    pub scene_group: wgpu::BindGroup,
    /// Bind pose, from which `deform` computes the merged vertices.
    pub bind_pose: BindPose,
    /// Materials and their textures.
    pub materials: Materials,
    /// Volumes of the scene; `None` for a volume without a scalar grid.
    pub volumes: Vec<Option<VolumeGrids>>,
    /// Draw lists of the passes.
    pub draws: DrawLists,
    /// Bounds of the scene at any pose.
    pub bounds: Bounds,
    /// World-space origin of the frame's coordinates, which the merged buffers use too. It is
    /// [`framing::origin`](canopy_scene::framing::origin) of the rest pose.
    pub origin: Vec3,
    /// Unique version of these buffers, which changes with each change of variant. Data that a pass caches
    /// for an earlier version is not valid for this one.
    pub version: u64,
    /// Indices of the parts that have no triangles.
    pub(crate) parts_without_triangles: Vec<usize>,
}

/// Bind-pose streams and the pose, in the order of their bindings in frame/deform.wgsl.
#[derive(Debug)]
pub struct BindPose {
    pub(crate) parts: wgpu::Buffer,
    pub(crate) part_of_vertex: wgpu::Buffer,
    pub(crate) sources: wgpu::Buffer,
    pub(crate) influences: wgpu::Buffer,
    pub(crate) deltas: wgpu::Buffer,
    /// Matrices, then morph weights.
    pub(crate) pose: wgpu::Buffer,
    /// Number of floats of all matrices.
    pub(crate) weights_offset: usize,
}

impl SceneBuffers {
    /// Recreates the bind group of [`Layouts::scene`].
    pub(crate) fn bind_scene(&mut self, gpu: &Gpu, layouts: &Layouts) {
        let tables = &self.materials.tables;
        let merged = [&self.positions, &self.frames, &self.indices];
        self.scene_group = scene_group(gpu, layouts, merged, &self.vertices, tables);
    }

    /// Returns the value of the constant `BVH_TESTS_HITS` of kernels that trace rays.
    pub fn tests_hits(&self, gpu: &Gpu) -> bool {
        !gpu.capabilities.has_ray_nodes() || self.draws.has_hit_tests()
    }

    /// Returns the G-buffer runs with layered materials. `see_through` says if rays pass through glass.
    pub fn layered(&self, see_through: bool) -> impl Iterator<Item = (&Run, &Surface)> {
        let surfaces = &self.materials.surfaces;
        let runs = self.draws.surfaces(see_through);
        let runs = runs.map(|run| (run, &surfaces[run.material]));
        runs.filter(|(_, surface)| surface.layered)
    }

    /// Returns the runs of alpha-blended surfaces that are lit, with the index of each part.
    pub fn blended(&self) -> impl Iterator<Item = (&Run, &Surface, usize)> {
        let surfaces = &self.materials.surfaces;
        let runs = self.draws.blended_runs(true);
        let runs = runs.map(|(run, part)| (run, &surfaces[run.material], *part));
        runs.filter(|(_, surface, _)| !surface.unlit)
    }

    /// True if the scene has volumes that can be shown.
    pub fn has_volumes(&self) -> bool {
        self.volumes.iter().any(Option::is_some)
    }

    /// True if any triangles have a layered material, however they are drawn.
    pub fn has_layers(&self) -> bool {
        let mut blended = self.blended();
        self.layered(true).next().is_some() || blended.any(|(_, surface, _)| surface.layered)
    }

    /// Returns the bounds of the parts that have triangles, or of all parts if none has. `parts` are the
    /// bounds of all parts.
    pub fn triangle_bounds(&self, parts: &[Aabb]) -> Aabb {
        if self.triangle_count == 0 || self.parts_without_triangles.is_empty() {
            return Aabb::union_of_finite(parts);
        }
        let mut parts = parts.to_vec();
        for &part in &self.parts_without_triangles {
            parts[part] = Aabb::EMPTY;
        }
        Aabb::union_of_finite(&parts)
    }
}

/// Creates the bind group of [`Layouts::scene`]: positions, frames, indices and vertices, and the tables of
/// materials and lights.
pub(crate) fn scene_group(
    gpu: &Gpu,
    layouts: &Layouts,
    [positions, frames, indices]: [&Array; 3],
    vertices: &wgpu::Buffer,
    tables: &wgpu::Buffer,
) -> wgpu::BindGroup {
    let resources: [&dyn Bind; 5] = [positions, frames, indices, vertices, tables];
    bind_group(gpu, "scene", &layouts.scene, &resources)
}
