//! A scene in GPU memory: what was uploaded once and frames only read. What frames change is in
//! `scene_state`.

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

/// The buffers of an uploaded scene.
#[derive(Debug)]
pub struct SceneBuffers {
    /// World positions, three floats a vertex; written by `deform`.
    pub positions: Array,
    /// World normal (3 floats) and tangent (4 floats) of each vertex; written by `deform`.
    pub frames: Array,
    /// UV sets and colour of each vertex: 24 bytes.
    pub vertices: wgpu::Buffer,
    /// Triangle list; behind it two vertex numbers a line, and the same number twice a point; then the ground.
    pub indices: Array,
    /// Mesh and material of each triangle, and behind them of each line and point.
    pub triangle_info: wgpu::Buffer,
    /// Vertices in the merged buffers.
    pub vertex_count: u32,
    /// Triangles in the merged buffers.
    pub triangle_count: u32,
    /// The first of the ground's two triangles, which lie behind everything else and belong to no mesh and no
    /// tree.
    pub ground_triangle: u32,
    /// Lines and points in the merged buffers.
    pub line_and_point_counts: [u32; 2],
    /// Where each mesh instance lies.
    pub meshes: Vec<MeshRange>,
    /// Bind group of `Layouts::tree`.
    pub tree_group: wgpu::BindGroup,
    /// Bind group of `Layouts::scene`.
    pub scene_group: wgpu::BindGroup,
    /// What `deform` makes the merged vertices from.
    pub bind_pose: BindPose,
    /// Materials and their textures.
    pub materials: Materials,
    /// Its volumes, `None` for those without a scalar grid.
    pub volumes: Vec<Option<VolumeGrids>>,
    /// What each pass draws.
    pub draws: DrawLists,
    /// Boxes around the scene at any pose.
    pub bounds: Bounds,
    /// Origin of the frame's coordinates, those of the merged buffers too, in the world:
    /// [`framing::origin`](canopy_scene::framing::origin) of the rest pose.
    pub origin: Vec3,
    /// A number that no other buffers have, and another one after each change of variant: what a pass has
    /// learned of an earlier version does not hold for this one.
    pub version: u64,
    /// Indices of the parts that have no triangles.
    pub(crate) parts_without_triangles: Vec<usize>,
}

/// The bind-pose streams and the pose, in the order of deform.wgsl.
#[derive(Debug)]
pub struct BindPose {
    pub(crate) parts: wgpu::Buffer,
    pub(crate) part_of_vertex: wgpu::Buffer,
    pub(crate) sources: wgpu::Buffer,
    pub(crate) influences: wgpu::Buffer,
    pub(crate) deltas: wgpu::Buffer,
    /// Matrices, then morph weights.
    pub(crate) pose: wgpu::Buffer,
    /// Floats of the matrices.
    pub(crate) weights_offset: usize,
}

impl SceneBuffers {
    /// Binds the buffers of [`Layouts::scene`] anew.
    pub(crate) fn bind_scene(&mut self, gpu: &Gpu, layouts: &Layouts) {
        let alpha = &self.materials.alpha;
        let merged = [&self.positions, &self.frames, &self.indices];
        self.scene_group = scene_group(gpu, layouts, merged, &self.vertices, alpha);
    }

    /// Runs of the G-buffer whose materials have layers; rays `see_through` glass or not.
    pub fn layered(&self, see_through: bool) -> impl Iterator<Item = (&Run, &Surface)> {
        let surfaces = &self.materials.surfaces;
        let runs = self.draws.surfaces(see_through);
        let runs = runs.map(|run| (run, &surfaces[run.material]));
        runs.filter(|(_, surface)| surface.layered)
    }

    /// Runs of alpha-blended surfaces that light falls on, with the index of each part.
    pub fn blended(&self) -> impl Iterator<Item = (&Run, &Surface, usize)> {
        let surfaces = &self.materials.surfaces;
        let runs = self.draws.over_surfaces(true);
        let runs = runs.map(|(run, part)| (run, &surfaces[run.material], *part));
        runs.filter(|(_, surface, _)| !surface.unlit)
    }

    /// Whether it has volumes that can be shown.
    pub fn has_volumes(&self) -> bool {
        self.volumes.iter().any(Option::is_some)
    }

    /// Whether any triangles have layers, however they are drawn.
    pub fn has_layers(&self) -> bool {
        let mut blended = self.blended();
        self.layered(true).next().is_some() || blended.any(|(_, surface, _)| surface.layered)
    }

    /// The box of the parts that have triangles, or of all where none has; `parts` are the boxes of all
    /// parts.
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

/// The bind group of [`Layouts::scene`]: positions, frames, indices and vertices, and the alpha of materials.
pub(crate) fn scene_group(
    gpu: &Gpu,
    layouts: &Layouts,
    [positions, frames, indices]: [&Array; 3],
    vertices: &wgpu::Buffer,
    alpha: &wgpu::Buffer,
) -> wgpu::BindGroup {
    let resources: [&dyn Bind; 5] = [positions, frames, indices, vertices, alpha];
    bind_group(gpu, "scene", &layouts.scene, &resources)
}
