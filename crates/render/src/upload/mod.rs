//! Uploads scenes to GPU memory.

pub(super) mod merge;
pub mod scene_buffers;
pub mod scene_state;
pub(super) mod sizes;
pub(super) mod version;

use super::{
    bindings::Layouts,
    geometry::{tree_policy::TreePolicy, trees::TreePasses},
    layout::LIGHT_LIMIT,
    light::{light_tree, lights},
    materials::{Materials, material_textures::Textures, mipmap::Mipmap},
    raster::{draw_lists::DrawLists, ground},
    volumes::volume_grids::VolumeGrids,
};
use crate::settings::Settings;
use canopy_bvh::{
    Error, Result,
    accel::{Codes, Geometry, codes::Sample},
    gpu::{Array, Gpu, PipelineSet},
};
use canopy_scene::{Progress, Scene, bounds::Bounds, opened::scene_origin};
use glam::Vec3;
use merge::merge;
use scene_buffers::{BindPose, SceneBuffers, scene_group};
use scene_state::{SceneState, UploadedScene};
use sizes::check_sizes;
use version::next_version;

/// Normal and tangent of the ground plane.
const GROUND_FRAME: [f32; 7] = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0];

/// Uploads scenes to GPU memory; shared with the thread that loads them.
#[derive(Debug)]
pub struct Uploader {
    pub(super) layouts: Layouts,
    pub(super) trees: TreePasses,
    mipmap: Mipmap,
}

impl Uploader {
    /// Creates an uploader. The first scene compiles the BVH builder, whose kernels are bound to its buffers.
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            layouts: Layouts::new(gpu),
            trees: TreePasses::new(gpu),
            mipmap: Mipmap::new(gpu),
        }
    }

    /// Uploads `scene`.
    ///
    /// # Errors
    ///
    /// [`canopy_bvh::Error::Limit`] if the scene exceeds a limit of the adapter. The error includes the
    /// limit.
    pub fn upload(&self, gpu: &Gpu, scene: &Scene, config: &Settings) -> Result<UploadedScene> {
        self.upload_reporting(gpu, scene, config, &Progress::default())
    }

    /// Uploads `scene` like [`Uploader::upload`], and reports progress.
    ///
    /// # Errors
    ///
    /// Any error of [`Uploader::upload`], or [`canopy_bvh::Error::Cancelled`] once `progress` is cancelled.
    pub fn upload_reporting(
        &self,
        gpu: &Gpu,
        scene: &Scene,
        config: &Settings,
        progress: &Progress,
    ) -> Result<UploadedScene> {
        progress.set_fraction(0.0);
        progress
            .enter("uploading: compiling the tree builder")
            .map_err(|_| Error::Cancelled)?;
        match lights::lights_beyond_limit(scene, config) {
            0 => {}
            more => log::warn!("{more} lights beyond the first {LIGHT_LIMIT} are off"),
        }
        check_sizes(gpu, scene, config)?;
        let mut set = PipelineSet::default();
        self.trees.lbvh.pipelines(&mut set);
        set.compile(gpu)?;
        progress
            .enter("uploading triangles")
            .map_err(|_| Error::Cancelled)?;
        let codes = Codes::of_bits(config.tree.code_bits, samples(scene));
        let anisotropy = config.image.anisotropy;
        gpu.catch(|| self.make_buffers(gpu, scene, codes, anisotropy, progress))?
    }

    /// Creates the buffers of a scene whose sizes have been checked.
    fn make_buffers(
        &self,
        gpu: &Gpu,
        scene: &Scene,
        codes: Codes,
        anisotropy: u32,
        progress: &Progress,
    ) -> Result<UploadedScene> {
        let Self {
            layouts,
            trees,
            mipmap,
        } = self;
        let merge = merge(scene);
        progress.check().map_err(|_| Error::Cancelled)?;
        let (vertex_count, triangle_count) = (
            merge.part_of_vertex.len() as u32,
            (merge.surfaces.info.len() - merge.segments.len()) as u32,
        );
        let weights_offset = 16 * merge.matrix_count as usize;
        let pose_bytes = 4 * (weights_offset + merge.weight_count as usize) as u64;

        let storage = wgpu::BufferUsages::STORAGE;
        let merged = storage
            | wgpu::BufferUsages::VERTEX
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        // The ground's vertices follow the vertices of the scene.
        let all_vertices = u64::from(vertex_count + ground::VERTICES);
        let array = |label, bytes, usage| {
            let words = u32::try_from(bytes / 4).unwrap_or(u32::MAX);
            Array::from_buffer(gpu, label, 1, &gpu.buffer(label, bytes, usage), words)
        };
        let positions = array("merged.positions", all_vertices * 12, merged)?;
        let frames = array("merged.frames", all_vertices * 28, merged)?;
        let vertices = gpu.buffer("merged.vertices", all_vertices * 24, merged);
        gpu.queue
            .write_buffer(&vertices, 0, bytemuck::cast_slice(&merge.vertices));
        let index_usage =
            storage | wgpu::BufferUsages::INDEX | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let triangle_bytes = u64::from(triangle_count) * 12;
        let segments: &[u8] = bytemuck::cast_slice(&merge.segments);
        // The ground's triangles come after the entries of `triangle_info`. A line or point takes fewer index
        // words than a triangle, so some words are left unused.
        let ground_triangle = merge.surfaces.info.len() as u32;
        let ground_bytes = 12 * u64::from(ground_triangle);
        let ground_corners = ground::CORNERS.map(|corner| vertex_count + corner);
        let ground_corners: &[u8] = bytemuck::cast_slice(&ground_corners);
        let index_bytes = ground_bytes + ground_corners.len() as u64;
        let indices = array("merged.indices", index_bytes, index_usage)?;
        for (at, words) in [(triangle_bytes, segments), (ground_bytes, ground_corners)] {
            gpu.queue.write_buffer(indices.buffer(), at, words);
        }
        let ground_frames = [GROUND_FRAME; ground::VERTICES as usize];
        let ground_frames = bytemuck::cast_slice(ground_frames.as_flattened());
        gpu.queue
            .write_buffer(frames.buffer(), u64::from(vertex_count) * 28, ground_frames);
        // The ground is not a mesh of the scene and has none of its materials.
        let of_ground = [[merge.meshes.len() as u32, 0]; ground::CORNERS.len() / 3];
        let info = [&merge.surfaces.info[..], &of_ground].concat();
        let triangle_info = gpu.buffer_with(
            "merged.triangle_info",
            &info,
            storage | wgpu::BufferUsages::COPY_SRC,
        );
        let pose = gpu.buffer("deform.pose", pose_bytes, storage | wgpu::BufferUsages::COPY_DST);
        let bind_pose = BindPose {
            parts: gpu.buffer_with("deform.parts", &merge.parts, storage),
            part_of_vertex: gpu.buffer_with("deform.part_of_vertex", &merge.part_of_vertex, storage),
            sources: gpu.buffer_with("deform.sources", &merge.sources, storage),
            influences: gpu.buffer_with("deform.influences", &merge.influences, storage),
            deltas: gpu.buffer_with("deform.deltas", &merge.deltas, storage),
            pose,
            weights_offset,
        };

        let textures = Textures::new(gpu, scene, anisotropy, progress);
        let light_words = light_tree::words_of(lights::max_lights(scene));
        let materials = Materials::new(gpu, scene, layouts, mipmap, textures, light_words)?;
        let volumes = scene.volumes.iter();
        let volumes = volumes.map(|volume| VolumeGrids::new(gpu, volume, progress));
        let volumes = volumes.collect::<Result<_>>()?;
        progress
            .enter("uploading: making room for the trees")
            .map_err(|_| Error::Cancelled)?;
        let merged = [&positions, &frames, &indices];
        let scene_group = scene_group(gpu, layouts, merged, &vertices, &materials.tables);

        let geometry = Geometry {
            positions: positions.buffer(),
            indices: indices.buffer(),
            triangle_info: Some(&triangle_info),
            meshes: &merge.meshes,
        };
        let tree = trees.lbvh.tree(gpu, &geometry, codes)?;
        let tree_group = tree.bind_group(gpu, &layouts.tree);
        let ray_group = tree.ray_bind_group(gpu, &layouts.tree)?;

        let bounds = Bounds::new(scene);
        let parts = merge.surfaces.runs.iter().enumerate();
        let without_triangles = parts.filter(|(_, run)| run.triangle_count == 0);
        let buffers = SceneBuffers {
            draws: DrawLists::new(scene, &merge.surfaces),
            line_and_point_counts: scene.line_and_point_counts().map(|count| count as u32),
            origin: scene_origin(scene, &bounds),
            bounds,
            parts_without_triangles: without_triangles.map(|(part, _)| part).collect(),
            version: next_version(),
            positions,
            frames,
            vertices,
            indices,
            triangle_info,
            vertex_count,
            triangle_count,
            ground_triangle,
            meshes: merge.meshes,
            tree_group,
            ray_group,
            scene_group,
            bind_pose,
            materials,
            volumes,
        };
        let policy = TreePolicy::new(gpu, trees.cost.buffers(gpu, &tree));
        let state = SceneState::new(tree, policy);
        Ok(UploadedScene { buffers, state })
    }
}

/// Returns sample triangles of each primitive in the rest pose, with the bounds of its mesh.
fn samples(scene: &Scene) -> impl Iterator<Item = Sample> {
    scene.meshes.iter().flat_map(|mesh| {
        let surfaces = || mesh.primitives.iter().filter(|p| !p.indices.is_empty());
        let positions = || surfaces().flat_map(|p| p.positions.iter().copied());
        let bounds = [
            positions().fold(Vec3::INFINITY, Vec3::min),
            positions().fold(Vec3::NEG_INFINITY, Vec3::max),
        ];
        surfaces().map(move |primitive| {
            let corner = |vertex: u32| primitive.positions[vertex as usize];
            let centroid = |i: usize| primitive.indices[i].map(corner).iter().sum::<Vec3>() / 3.0;
            Sample::new(bounds, primitive.indices.len(), centroid)
        })
    })
}
