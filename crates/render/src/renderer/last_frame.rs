//! Queries on the last frame before the next one: picks, outlines, ray traversals, and copies of its
//! geometry.

use crate::{
    GeometryCopy, OutlineQuery, PickQuery, Picked, RayKind, RayPathCopy, Renderer, TreeCopy, UploadedScene,
    View,
    geometry::trees,
    layout::TreeBox,
    queries::pick,
    settings::{self, CameraMode, Settings},
};
use canopy_bvh::{
    Result,
    gpu::{Gpu, PipelineSet},
};

impl Renderer {
    /// Adds the pipelines for the queries that a camera with these settings makes.
    pub fn camera_pipelines(&self, camera: &settings::Camera, set: &mut PipelineSet) {
        match camera.mode {
            CameraMode::Walk => self.walk.pipelines(set),
            CameraMode::Orbit if camera.avoid_walls => self.camera_arm.pipelines(set),
            CameraMode::Orbit => {}
        }
    }

    /// True if the deformed geometry of `scene` and its BVHs exist once everything submitted so far has run.
    /// This is false before the first frame of the scene, and while the parts of a frame that build them are
    /// still to be submitted.
    pub fn has_geometry(&self, scene: &UploadedScene) -> bool {
        let version = self.frames_are_of.as_ref().map(|(version, ..)| *version);
        self.last.is_some()
            && version == Some(scene.buffers.version)
            && self.parts.iter().all(|part| part.pass != trees::LABEL)
    }

    /// Adds the pipelines of picks and outlines for `scene`.
    pub fn selection_pipelines(&self, scene: &UploadedScene, set: &mut PipelineSet) {
        self.pick.pipelines(set);
        self.outline.pipelines(&scene.buffers, set);
    }

    /// Copies the deformed vertices and the triangles of a mesh of the last frame. Call [`GeometryCopy::map`]
    /// after the submission. Returns `None` if there is no such mesh, or no geometry
    /// ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn copy_mesh(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        mesh: usize,
    ) -> Result<Option<GeometryCopy>> {
        match self.has_geometry(scene) {
            true => GeometryCopy::of_mesh(gpu, encoder, &scene.buffers, mesh),
            false => Ok(None),
        }
    }

    /// Copies the deformed vertices and the triangles of all meshes, like [`Renderer::copy_mesh`].
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn copy_geometry(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
    ) -> Result<Option<GeometryCopy>> {
        match self.has_geometry(scene) {
            true => GeometryCopy::of_scene(gpu, encoder, &scene.buffers).map(Some),
            false => Ok(None),
        }
    }

    /// Adds the pipelines that trace and draw the traversal of a ray.
    pub fn path_pipelines(&self, set: &mut PipelineSet) {
        self.ray_path.pipelines(set);
        self.passes.tree_boxes.path_pipelines(set);
    }

    /// Draws the lines of a traversal through the BVHs of the last frame of `scene`, for a picture of `size`.
    /// [`Renderer::show_path`] shows them.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pass, or [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn draw_path(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (view, size, config): (&View, [u32; 2], &Settings),
        lines: &[TreeBox],
    ) -> Result<()> {
        let view = view.translated(-scene.buffers.origin);
        let seen = (&view, size, &config.tree_boxes);
        self.passes
            .tree_boxes
            .draw_path(gpu, encoder, self.passes.gbuffer.output(), seen, lines)
    }

    /// Draws the traversal that was drawn last over `target`, with its top-left corner at `origin`.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pass.
    pub fn show_path(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        origin: [u32; 2],
    ) -> Result<()> {
        self.passes.tree_boxes.show_path(gpu, encoder, target, origin)
    }

    /// Traces the rays of the pixel of `query` through the BVHs of the last frame, which must have shown
    /// `scene`. Call [`RayPathCopy::map`] after the submission to read their steps. Returns `None` if there
    /// is no geometry ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// Any error of compiling the pass, or [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn trace_path(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (query, of): (&PickQuery, RayKind),
    ) -> Result<Option<RayPathCopy>> {
        let Some(last) = self.last.as_ref().filter(|_| self.has_geometry(scene)) else {
            return Ok(None);
        };
        let seen = (&last.group, self.passes.gbuffer.output());
        self.ray_path
            .record(gpu, encoder, scene, seen, (query, of))
            .map(Some)
    }

    /// Copies the BVH nodes of the last frame, whose statistics are computed on the CPU. Call
    /// [`TreeCopy::map`] after the submission. Returns `None` if there is no geometry
    /// ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn copy_trees(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
    ) -> Result<Option<TreeCopy>> {
        match self.has_geometry(scene) {
            true => TreeCopy::record(gpu, encoder, &scene.state.tree).map(Some),
            false => Ok(None),
        }
    }

    /// Draws the outlines of the selected meshes of the last frame of `scene`. [`Renderer::show_outline`]
    /// shows them. Returns `false` if there is no geometry ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// Any error of compiling the pass, or [`canopy_bvh::Error::Gpu`] if the adapter is out of memory.
    pub fn draw_outline(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        query: &OutlineQuery,
    ) -> Result<bool> {
        if !self.has_geometry(scene) {
            return Ok(false);
        }
        self.outline
            .record(gpu, encoder, &scene.buffers, query)
            .map(|()| true)
    }

    /// Draws the outlines that were drawn last over `target`, with their top-left corner at `origin`.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pass.
    pub fn show_outline(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        origin: [u32; 2],
    ) -> Result<()> {
        self.outline.show(gpu, encoder, target, origin)
    }

    /// Records a picking ray through the BVHs of the last frame, which must have shown `scene`. Returns the
    /// number of the query. Returns `None` if there is no geometry ([`Renderer::has_geometry`]) or too many
    /// answers are pending.
    ///
    /// # Errors
    ///
    /// Any error of compiling the pass, or [`canopy_bvh::Error::Gpu`] if the adapter is out of memory. Do not
    /// submit `encoder` after an error.
    pub fn pick(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        query: &PickQuery,
    ) -> Result<Option<u64>> {
        let Some(last) = self.last.as_ref().filter(|_| self.has_geometry(scene)) else {
            return Ok(None);
        };
        let seen = (self.passes.gbuffer.output(), last.rays);
        self.pick.record(gpu, encoder, scene, seen, query)
    }

    /// Passes the answers that have arrived since the submission to `arrived`, by number; `None` if the ray
    /// hit nothing. `scene` is the scene that was queried. Never waits: poll the device.
    pub fn collect_picks(&mut self, scene: &UploadedScene, mut arrived: impl FnMut(u64, Option<Picked>)) {
        self.pick
            .collect(|number, hit| arrived(number, pick::named(&hit, scene)));
    }
}
