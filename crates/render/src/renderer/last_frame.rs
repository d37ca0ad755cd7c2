//! What is asked of the last frame before the next one: picks, outlines, paths of rays, copies of its geometry.

use crate::{
    GeometryCopy, OutlineQuery, PathOf, PickQuery, Picked, RayPathCopy, Renderer, TreeCopy, UploadedScene,
    View,
    geometry::trees,
    layout::TreeBox,
    queries::pick,
    settings::{self, CameraMode, Settings},
};
use canopy_bvh::{
    Result,
    gpu::{Gpu, Needs},
};

impl Renderer {
    /// What has to be compiled before the trees are asked what a camera with these settings needs to know.
    pub fn camera_needs(&self, camera: &settings::Camera, needs: &mut Needs) {
        match camera.mode {
            CameraMode::Walk => self.walk.needs(needs),
            CameraMode::Orbit if camera.avoid_walls => self.camera_arm.needs(needs),
            CameraMode::Orbit => {}
        }
    }

    /// Whether the deformed geometry of `scene` and its trees are there once what has been submitted is done:
    /// not before its first frame, and not while the parts of a frame that make them are still to be
    /// submitted.
    pub fn has_geometry(&self, scene: &UploadedScene) -> bool {
        let version = self.frames_are_of.as_ref().map(|(version, ..)| *version);
        self.last.is_some()
            && version == Some(scene.buffers.version)
            && self.parts.iter().all(|part| part.pass != trees::LABEL)
    }

    /// What picks and outlines compile for `scene`.
    pub fn selection_needs(&self, scene: &UploadedScene, needs: &mut Needs) {
        self.pick.needs(needs);
        self.outline.needs(&scene.buffers, needs);
    }

    /// Copies the deformed vertices and the triangles of a mesh of the last frame; [`GeometryCopy::map`] asks
    /// for them after the submission. `None` where there is no such mesh, or no geometry
    /// ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
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

    /// As [`Renderer::copy_mesh`], of all meshes.
    ///
    /// # Errors
    ///
    /// As there.
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

    /// What the path of a ray compiles.
    pub fn path_needs(&self, needs: &mut Needs) {
        self.ray_path.needs(needs);
        self.passes.tree_boxes.path_needs(needs);
    }

    /// Draws these lines of a path through the trees of the last frame of `scene` for a picture of `size`,
    /// for [`Renderer::show_path`].
    ///
    /// # Errors
    ///
    /// Those of compiling the pass, and of the adapter's memory.
    pub fn draw_path(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (view, size, config): (&View, [u32; 2], &Settings),
        lines: &[TreeBox],
    ) -> Result<()> {
        let view = view.moved(-scene.buffers.origin);
        let seen = (&view, size, &config.tree_boxes);
        self.passes
            .tree_boxes
            .draw_path(gpu, encoder, self.passes.gbuffer.output(), seen, lines)
    }

    /// Lays the path that was drawn last over `target`, with its upper left corner at `origin`.
    ///
    /// # Errors
    ///
    /// Those of compiling the pass.
    pub fn show_path(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        origin: [u32; 2],
    ) -> Result<()> {
        self.passes.tree_boxes.show_path(gpu, encoder, target, origin)
    }

    /// Traces the rays of what `query` sees through the trees of the last frame, which was one of `scene`;
    /// [`RayPathCopy::map`] asks for their steps after the submission. `None` where there is no geometry
    /// ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// Those of compiling the pass, and of the adapter's memory.
    pub fn trace_path(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &UploadedScene,
        (query, of): (&PickQuery, PathOf),
    ) -> Result<Option<RayPathCopy>> {
        let Some(last) = self.last.as_ref().filter(|_| self.has_geometry(scene)) else {
            return Ok(None);
        };
        let seen = (&last.group, self.passes.gbuffer.output());
        self.ray_path
            .record(gpu, encoder, scene, seen, (query, of))
            .map(Some)
    }

    /// Copies the nodes of the trees of the last frame, of which the figures are counted on the CPU;
    /// [`TreeCopy::map`] asks for them after the submission. `None` where there is no geometry
    /// ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Gpu`] where the adapter has no memory left.
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

    /// Draws the outlines of the selected meshes of the last frame of `scene`, for
    /// [`Renderer::show_outline`]. Returns `false` where there is no geometry ([`Renderer::has_geometry`]).
    ///
    /// # Errors
    ///
    /// Those of compiling the pass, and of the adapter's memory.
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

    /// Lays the outlines that were drawn last over `target`, with their upper left corner at `origin`.
    ///
    /// # Errors
    ///
    /// Those of compiling the pass.
    pub fn show_outline(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        origin: [u32; 2],
    ) -> Result<()> {
        self.outline.show(gpu, encoder, target, origin)
    }

    /// Records a ray into the trees of the last frame, which was one of `scene`. Returns the number of the
    /// answer, or `None` where there is no geometry ([`Renderer::has_geometry`]) or too many answers are
    /// awaited.
    ///
    /// # Errors
    ///
    /// Those of compiling the pass, and of the adapter's memory. Then what `encoder` holds must not be
    /// submitted.
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

    /// After the submission: hands out the answers that have arrived, by number; `None` where the ray hit
    /// nothing. `scene` is the one that they were asked of. Never waits: the device has to be polled.
    pub fn collect_picks(&mut self, scene: &UploadedScene, mut arrived: impl FnMut(u64, Option<Picked>)) {
        self.pick
            .collect(|number, hit| arrived(number, pick::named(&hit, scene)));
    }
}
