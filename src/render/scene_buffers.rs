//! A scene in GPU memory: the merged buffers, what `deform` makes them from, the trees, and what is drawn.

use super::{
    bindings::Layouts, deform::Deform, lights, materials::Materials, mipmap::Mipmap,
    regrowth::Regrowth,
};
use crate::{
    Error, Result,
    accel::{Codes, Cost, Geometry, Lbvh, Tree, codes::Sample},
    config::Config,
    gpu::{
        Gpu,
        layout::{DeformPart, LIGHT_LIMIT, MeshRange, NEEDS_CONSENT},
        pass,
    },
    scene::{
        AlphaMode, Pose, Primitive, Scene, animation::instance_matrices, bounds::Bounds, framing,
    },
};
use glam::{Mat3, Mat4, Vec3};
use std::{
    cell::RefCell,
    ops::Range,
    sync::atomic::{AtomicU64, Ordering},
};

/// Triangles of one material that lie side by side in the merged buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Index of the material.
    pub material: usize,
    /// First triangle.
    pub first_triangle: u32,
    /// Number of triangles.
    pub triangle_count: u32,
}

impl Run {
    /// Its corners: what is drawn.
    pub fn corners(self) -> Range<u32> {
        3 * self.first_triangle..3 * (self.first_triangle + self.triangle_count)
    }
}

/// The lists of [`SceneBuffers`] that are drawn.
struct DrawLists {
    layered: bool,
    solid: Vec<Run>,
    blended: Vec<(Run, usize)>,
    opaque_casters: Vec<Run>,
    masked_casters: Vec<Run>,
    blended_casters: Vec<Run>,
}

impl DrawLists {
    /// Sorts out the runs of all parts.
    fn new(scene: &Scene, runs: &[Run]) -> Self {
        let material = |run: &Run| &scene.materials[run.material];
        let runs = || runs.iter().copied();
        let solid = |run: &Run| !material(run).is_blended();
        let of_mode =
            |mode| runs().filter(move |run| solid(run) && material(run).alpha_mode == mode);
        let same = |a: &Run, b: &Run| a.material == b.material;
        let blended = runs().enumerate().filter(|(_, run)| !solid(run));
        let casts = |run: &Run| !solid(run) && !material(run).is_clear();
        Self {
            layered: runs().any(|run| solid(&run) && material(&run).layers.is_some()),
            solid: joined(runs().filter(solid), same),
            blended: blended.map(|(part, run)| (run, part)).collect(),
            opaque_casters: joined(of_mode(AlphaMode::Opaque), |_, _| true),
            masked_casters: joined(of_mode(AlphaMode::Mask), same),
            blended_casters: runs().filter(casts).collect(),
        }
    }
}

/// A scene in GPU memory.
#[derive(Debug)]
pub struct SceneBuffers {
    /// World positions, three floats a vertex; written by `deform`.
    pub positions: wgpu::Buffer,
    /// World normal (3 floats) and tangent (4) of each vertex; written by `deform`.
    pub frames: wgpu::Buffer,
    /// UV sets and colour of each vertex: 24 bytes.
    pub vertices: wgpu::Buffer,
    /// Triangle list.
    pub indices: wgpu::Buffer,
    /// Mesh and material of each triangle.
    pub triangle_info: wgpu::Buffer,
    /// Vertices in the merged buffers.
    pub vertex_count: u32,
    /// Triangles in the merged buffers.
    pub triangle_count: u32,
    /// Where each mesh instance lies.
    pub meshes: Vec<MeshRange>,
    /// The trees.
    pub tree: Tree,
    /// When they are built again.
    pub regrowth: Regrowth,
    /// For [`Layouts::tree`].
    pub tree_group: wgpu::BindGroup,
    /// For [`Layouts::scene`].
    pub scene_group: wgpu::BindGroup,
    /// For [`Deform::layout`].
    pub deform_group: wgpu::BindGroup,
    /// Materials and their textures.
    pub materials: Materials,
    /// Opaque and masked runs, for the G-buffer.
    pub solid: Vec<Run>,
    /// Blended and transmissive parts: the run and the part's place in [`Bounds::parts`].
    pub blended: Vec<(Run, usize)>,
    /// Runs that cast without a look at their alpha; the material is the first of the run's.
    pub opaque_casters: Vec<Run>,
    /// Masked runs.
    pub masked_casters: Vec<Run>,
    /// Blended runs that are not clear: they cast where `shadows.blended_cast` says so.
    pub blended_casters: Vec<Run>,
    /// Whether any solid run has layers.
    pub layered: bool,
    /// Boxes around the scene at any pose.
    pub bounds: Bounds,
    /// Where the frame's coordinates, those of the merged buffers too, have their origin in the world: [`framing::origin`] of the rest pose.
    pub origin: Vec3,
    /// A number of its own, and another one after each change of variant: what was found out about an earlier one no longer holds.
    pub version: u64,
    pose: wgpu::Buffer,
    weights_at: usize,
    /// What `pose` holds; nothing at first.
    written: RefCell<Vec<f32>>,
    /// Whether each instance's triangles are turned over.
    mirrored: RefCell<Vec<bool>>,
}

/// One that no buffers have had.
fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

/// The merged scene as it is put together on the CPU.
#[derive(Default)]
struct Merge {
    parts: Vec<DeformPart>,
    part_of_vertex: Vec<u32>,
    sources: Vec<f32>,
    influences: Vec<[u32; 2]>,
    deltas: Vec<f32>,
    vertices: Vec<[u32; 6]>,
    triangle_info: Vec<[u32; 2]>,
    meshes: Vec<MeshRange>,
    runs: Vec<Run>,
    matrix_count: u32,
    weight_count: u32,
}

/// Brings scenes into GPU memory; shared with the thread that loads them.
#[derive(Debug)]
pub struct Uploader {
    pub(super) layouts: Layouts,
    pub(super) deform: Deform,
    pub(super) lbvh: Lbvh,
    pub(super) cost: Cost,
    mipmap: Mipmap,
}

impl Uploader {
    /// Compiles the passes that a scene's buffers are bound to.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        Ok(Self {
            layouts: Layouts::new(gpu),
            deform: Deform::new(gpu)?,
            lbvh: Lbvh::new(gpu)?,
            cost: Cost::new(gpu)?,
            mipmap: Mipmap::new(gpu)?,
        })
    }

    /// Uploads `scene`, or says which limit it does not fit.
    pub fn upload(&self, gpu: &Gpu, scene: &Scene, config: &Config) -> Result<SceneBuffers> {
        match lights::without_room(scene, config) {
            0 => {}
            more => log::warn!("{more} lights past the first {LIGHT_LIMIT} do not shine"),
        }
        Sizes::of(scene).check(gpu, config)?;
        let codes = Codes::of_bits(config.tree.code_bits, samples(scene));
        gpu.catch(|| self.make_buffers(gpu, scene, codes, config.image.anisotropy))?
    }

    /// The buffers of a scene whose sizes have been checked.
    fn make_buffers(
        &self,
        gpu: &Gpu,
        scene: &Scene,
        codes: Codes,
        anisotropy: u32,
    ) -> Result<SceneBuffers> {
        let Self {
            layouts,
            deform,
            lbvh,
            cost,
            mipmap,
        } = self;
        let merge = merge(scene);
        let (vertex_count, triangle_count) = (
            merge.part_of_vertex.len() as u32,
            merge.triangle_info.len() as u32,
        );
        let weights_at = 16 * merge.matrix_count as usize;
        let pose_bytes = 4 * (weights_at + merge.weight_count as usize) as u64;

        let storage = wgpu::BufferUsages::STORAGE;
        let merged = storage | wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_SRC;
        let positions = gpu.buffer("merged.positions", u64::from(vertex_count) * 12, merged);
        let frames = gpu.buffer("merged.frames", u64::from(vertex_count) * 28, merged);
        let vertices = gpu.buffer_with("merged.vertices", &merge.vertices, merged);
        let index_usage = storage
            | wgpu::BufferUsages::INDEX
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let indices = gpu.buffer(
            "merged.indices",
            u64::from(triangle_count) * 12,
            index_usage,
        );
        let triangle_info = gpu.buffer_with(
            "merged.triangle_info",
            &merge.triangle_info,
            storage | wgpu::BufferUsages::COPY_SRC,
        );
        let pose = gpu.buffer(
            "deform.pose",
            pose_bytes,
            storage | wgpu::BufferUsages::COPY_DST,
        );
        let deform_group = {
            let parts = gpu.buffer_with("deform.parts", &merge.parts, storage);
            let part_of_vertex =
                gpu.buffer_with("deform.part_of_vertex", &merge.part_of_vertex, storage);
            let sources = gpu.buffer_with("deform.sources", &merge.sources, storage);
            let influences = gpu.buffer_with("deform.influences", &merge.influences, storage);
            let deltas = gpu.buffer_with("deform.deltas", &merge.deltas, storage);
            let resources = [
                &parts,
                &part_of_vertex,
                &sources,
                &influences,
                &deltas,
                &pose,
                &positions,
                &frames,
            ]
            .map(wgpu::Buffer::as_entire_binding);
            pass::bind_group(gpu, "deform", &deform.layout(), &resources)
        };

        let materials = Materials::new(gpu, scene, layouts, mipmap, anisotropy)?;
        let resources = [&positions, &frames, &indices, &vertices, &materials.alpha]
            .map(wgpu::Buffer::as_entire_binding);
        let scene_group = pass::bind_group(gpu, "scene", &layouts.scene, &resources);

        let geometry = Geometry {
            positions: &positions,
            indices: &indices,
            triangle_info: &triangle_info,
            meshes: &merge.meshes,
        };
        let tree = lbvh.tree(gpu, &geometry, codes)?;
        let tree_group = tree.bind_group(gpu, &layouts.tree);

        let bounds = Bounds::new(scene);
        let lists = DrawLists::new(scene, &merge.runs);
        Ok(SceneBuffers {
            layered: lists.layered,
            solid: lists.solid,
            blended: lists.blended,
            opaque_casters: lists.opaque_casters,
            masked_casters: lists.masked_casters,
            blended_casters: lists.blended_casters,
            origin: framing::origin(bounds.scene(scene, &Pose::new(scene, None, 0.0))),
            bounds,
            version: next_version(),
            written: RefCell::default(),
            mirrored: RefCell::default(),
            regrowth: Regrowth::new(gpu, cost.room(gpu, &tree)),
            positions,
            frames,
            vertices,
            indices,
            triangle_info,
            vertex_count,
            triangle_count,
            meshes: merge.meshes,
            tree,
            tree_group,
            scene_group,
            deform_group,
            materials,
            pose,
            weights_at,
        })
    }
}

impl SceneBuffers {
    /// Brings the moment into GPU memory: matrices and weights, and the winding of instances that a scale has turned inside out.
    /// Says of each instance whether anything that moves its vertices differs from the last call; at first of all.
    pub fn write_pose(&self, gpu: &Gpu, scene: &Scene, pose: &Pose) -> Vec<bool> {
        let mut words = Vec::with_capacity(self.pose.size() as usize / 4);
        let mut weights = Vec::new();
        let mut mirrored = Vec::with_capacity(self.meshes.len());
        // Of each instance: its matrices and its weights.
        let mut parts: Vec<[Range<usize>; 2]> = Vec::with_capacity(self.meshes.len());
        for (node, mesh) in scene.instances() {
            let (rigid, joints) = instance_matrices(scene, pose, node);
            let primitives = &scene.meshes[mesh].primitives;
            let (first_word, first_weight) = (words.len(), self.weights_at + weights.len());
            mirrored.push(Mat3::from_mat4(pose.world_from_node[node]).determinant() < 0.0);
            words.extend_from_slice(rigid.as_ref());
            for joint in joints.iter().flatten() {
                words.extend_from_slice(AsRef::<[f32; 16]>::as_ref(joint));
            }
            if primitives
                .iter()
                .any(|primitive| !primitive.targets.is_empty())
            {
                weights.extend_from_slice(&pose.weights[node]);
            }
            parts.push([
                first_word..words.len(),
                first_weight..self.weights_at + weights.len(),
            ]);
        }
        debug_assert_eq!(
            words.len(),
            self.weights_at,
            "the pose has other matrices than the scene that was uploaded"
        );
        words.extend_from_slice(&weights);
        let same = |range: &Range<usize>| {
            let written = self.written.borrow();
            let written = written.get(range.clone()).map(bits);
            written == Some(bits(&words[range.clone()]))
        };
        let changed: Vec<_> = parts.iter().map(|part| !part.iter().all(same)).collect();
        if !changed.contains(&true) {
            return changed;
        }
        gpu.queue
            .write_buffer(&self.pose, 0, bytemuck::cast_slice(&words));
        if mirrored != *self.mirrored.borrow() {
            self.write_indices(gpu, scene, &mirrored);
            self.mirrored.replace(mirrored);
        }
        self.written.replace(words);
        changed
    }

    /// Takes over what [`Scene::choose_variant`] has changed: the materials of triangles, and what is drawn how.
    pub fn write_variant(&mut self, gpu: &Gpu, scene: &Scene) {
        let (info, runs) = surfaces(scene);
        gpu.queue
            .write_buffer(&self.triangle_info, 0, bytemuck::cast_slice(&info));
        let lists = DrawLists::new(scene, &runs);
        (self.solid, self.blended) = (lists.solid, lists.blended);
        (self.opaque_casters, self.masked_casters) = (lists.opaque_casters, lists.masked_casters);
        (self.layered, self.blended_casters) = (lists.layered, lists.blended_casters);
        // Leaves hold materials too.
        self.regrowth.forget();
        self.version = next_version();
    }

    /// Writes the triangles of every instance whose winding is not what the index buffer holds.
    fn write_indices(&self, gpu: &Gpu, scene: &Scene, mirrored: &[bool]) {
        for (instance, (node, mesh)) in scene.instances().enumerate() {
            if self.mirrored.borrow().get(instance) == Some(&mirrored[instance]) {
                continue;
            }
            let range = self.meshes[instance];
            let mut base = range.first_vertex;
            let mut indices: Vec<[u32; 3]> = Vec::with_capacity(range.triangle_count as usize);
            for primitive in &scene.meshes[mesh].primitives {
                let skinned =
                    scene.nodes[node].skin.is_some() && primitive.influences_per_vertex > 0;
                let turn = mirrored[instance] && !skinned;
                indices.extend(primitive.indices.iter().map(|&[a, b, c]| {
                    let [a, b, c] = [base + a, base + b, base + c];
                    if turn { [a, c, b] } else { [a, b, c] }
                }));
                base += primitive.positions.len() as u32;
            }
            gpu.queue.write_buffer(
                &self.indices,
                u64::from(range.first_triangle) * 12,
                bytemuck::cast_slice(&indices),
            );
        }
    }
}

/// Floats that can be compared, whatever they are.
fn bits(floats: &[f32]) -> &[u32] {
    bytemuck::cast_slice(floats)
}

/// Of each primitive some triangles, at rest, with the box of its mesh.
fn samples(scene: &Scene) -> impl Iterator<Item = Sample> {
    scene.meshes.iter().flat_map(|mesh| {
        let positions = || {
            mesh.primitives
                .iter()
                .flat_map(|p| p.positions.iter().copied())
        };
        let bounds = [
            positions().fold(Vec3::INFINITY, Vec3::min),
            positions().fold(Vec3::NEG_INFINITY, Vec3::max),
        ];
        mesh.primitives.iter().map(move |primitive| {
            let corner = |vertex: u32| primitive.positions[vertex as usize];
            let centroid = |i: usize| primitive.indices[i].map(corner).iter().sum::<Vec3>() / 3.0;
            Sample::new(bounds, primitive.indices.len(), centroid)
        })
    })
}

/// How much of everything a scene has, counted before anything is allocated, in numbers that do not overflow.
#[derive(Debug, Default)]
struct Sizes {
    vertices: u64,
    triangles: u64,
    /// Bind-pose vertices, once per mesh.
    sources: u64,
    influences: u64,
    /// Morph offsets: targets × vertices, once per mesh.
    deltas: u64,
    matrices: u64,
    weights: u64,
}

impl Sizes {
    fn of(scene: &Scene) -> Self {
        let mut sizes = Self::default();
        let mut seen = vec![false; scene.meshes.len()];
        for (node, mesh) in scene.instances() {
            let skin = scene.nodes[node].skin;
            let primitives = &scene.meshes[mesh].primitives;
            let targets = primitives.iter().map(|primitive| primitive.targets.len());
            sizes.weights += targets.max().unwrap_or(0) as u64;
            sizes.matrices += 1 + skin.map_or(0, |skin| scene.skins[skin].joints.len() as u64);
            let first = !std::mem::replace(&mut seen[mesh], true);
            for primitive in primitives {
                let vertices = primitive.positions.len() as u64;
                sizes.vertices += vertices;
                sizes.triangles += primitive.indices.len() as u64;
                if first {
                    sizes.sources += vertices;
                    sizes.influences += primitive.joints.len() as u64;
                    sizes.deltas += vertices * primitive.targets.len() as u64;
                }
            }
        }
        sizes
    }

    /// Fails with the first that the configuration or the device does not allow.
    fn check(&self, gpu: &Gpu, config: &Config) -> Result<()> {
        let allowed = config.load.max_triangles;
        if self.triangles > allowed {
            return Err(Error::Limit {
                what: "the scene".into(),
                needed: format!("{} triangles", self.triangles),
                allowed: format!("{allowed} triangles"),
                by: "load.max_triangles".into(),
            });
        }
        for (what, count, bytes) in [
            ("the merged normals and tangents", self.vertices, 28),
            ("the merged indices", self.triangles, 12),
            ("the tree's nodes", self.triangles, 64),
            ("the bind-pose vertices", self.sources, 40),
            ("the joint influences", self.influences, 8),
            ("the morph targets", self.deltas, 36),
            ("the pose", 16 * self.matrices + self.weights, 4),
        ] {
            gpu.check_binding(what, count * bytes)?;
        }
        Ok(())
    }
}

/// Mesh and material of each triangle, and where each part lies.
fn surfaces(scene: &Scene) -> (Vec<[u32; 2]>, Vec<Run>) {
    let (mut info, mut runs) = (Vec::new(), Vec::new());
    for (instance, (_, mesh)) in scene.instances().enumerate() {
        for primitive in &scene.meshes[mesh].primitives {
            let material = &scene.materials[primitive.material];
            let solid = material.alpha_mode == AlphaMode::Opaque && !material.is_blended();
            let consent = if solid { 0 } else { NEEDS_CONSENT };
            runs.push(Run {
                material: primitive.material,
                first_triangle: info.len() as u32,
                triangle_count: primitive.indices.len() as u32,
            });
            let of_triangle = [instance as u32 | consent, primitive.material as u32];
            info.extend(std::iter::repeat_n(of_triangle, primitive.indices.len()));
        }
    }
    (info, runs)
}

/// Puts the scene together: sources once per mesh, merged vertices and triangles once per instance.
fn merge(scene: &Scene) -> Merge {
    let (triangle_info, runs) = surfaces(scene);
    let mut merge = Merge {
        triangle_info,
        runs,
        ..Merge::default()
    };
    let mut triangle_count = 0;
    let mut first_part_of_mesh = vec![None; scene.meshes.len()];
    for (node, mesh) in scene.instances() {
        let primitives = &scene.meshes[mesh].primitives;
        let sources: Vec<DeformPart> = first_part_of_mesh[mesh]
            .get_or_insert_with(|| {
                primitives
                    .iter()
                    .map(|primitive| merge.source(primitive))
                    .collect::<Vec<_>>()
            })
            .clone();
        let skin = scene.nodes[node]
            .skin
            .map(|skin| scene.skins[skin].joints.len() as u32);
        let range = MeshRange {
            first_triangle: triangle_count,
            first_vertex: merge.part_of_vertex.len() as u32,
            ..MeshRange::default()
        };
        for (primitive, source) in primitives.iter().zip(sources) {
            let skinned = skin.is_some() && primitive.influences_per_vertex > 0;
            let part = DeformPart {
                first_vertex: merge.part_of_vertex.len() as u32,
                first_influence: if skinned {
                    source.first_influence
                } else {
                    u32::MAX
                },
                first_matrix: merge.matrix_count + u32::from(skinned),
                first_weight: merge.weight_count,
                ..source
            };
            merge.part_of_vertex.extend(std::iter::repeat_n(
                merge.parts.len() as u32,
                primitive.positions.len(),
            ));
            merge.parts.push(part);
            merge
                .vertices
                .extend((0..primitive.positions.len()).map(|vertex| attributes(primitive, vertex)));
            triangle_count += primitive.indices.len() as u32;
        }
        merge.meshes.push(MeshRange {
            triangle_count: triangle_count - range.first_triangle,
            ..range
        });
        merge.matrix_count += 1 + skin.unwrap_or(0);
        merge.weight_count += primitives
            .iter()
            .map(|primitive| primitive.targets.len() as u32)
            .max()
            .unwrap_or(0);
    }
    // Weights follow the matrices in the same buffer.
    for part in &mut merge.parts {
        part.first_weight += 16 * merge.matrix_count;
    }
    merge
}

impl Merge {
    /// Adds a primitive's bind pose, influences and targets; the part still lacks what differs between instances.
    fn source(&mut self, primitive: &Primitive) -> DeformPart {
        let vertex_count = primitive.positions.len();
        let part = DeformPart {
            first_source: (self.sources.len() / 10) as u32,
            first_influence: self.influences.len() as u32,
            influences_per_vertex: primitive.influences_per_vertex as u32,
            first_delta: (self.deltas.len() / 9) as u32,
            target_count: primitive.targets.len() as u32,
            vertex_count: vertex_count as u32,
            ..DeformPart::default()
        };
        for vertex in 0..vertex_count {
            self.sources.extend(primitive.positions[vertex].to_array());
            self.sources.extend(primitive.normals[vertex].to_array());
            self.sources.extend(primitive.tangents[vertex].to_array());
        }
        self.influences.extend(
            primitive
                .joints
                .iter()
                .zip(&primitive.joint_weights)
                .map(|(joint, weight)| [*joint, weight.to_bits()]),
        );
        for target in &primitive.targets {
            for vertex in 0..vertex_count {
                for list in [&target.positions, &target.normals, &target.tangents] {
                    self.deltas
                        .extend(list.get(vertex).copied().unwrap_or_default().to_array());
                }
            }
        }
        part
    }
}

/// UV sets and colour of a vertex, as `common/scene.wgsl` unpacks them.
fn attributes(primitive: &Primitive, vertex: usize) -> [u32; 6] {
    let uv0 = primitive.uv0.get(vertex).copied().unwrap_or_default();
    let uv1 = primitive.uv1.get(vertex).copied().unwrap_or_default();
    let color = primitive
        .colors
        .get(vertex)
        .copied()
        .unwrap_or(glam::Vec4::ONE);
    let [r, g, b, a] = color
        .to_array()
        .map(|c| (c.clamp(0.0, 1.0) * 65535.0).round() as u32);
    [
        uv0.x.to_bits(),
        uv0.y.to_bits(),
        uv1.x.to_bits(),
        uv1.y.to_bits(),
        r | g << 16,
        b | a << 16,
    ]
}

/// Joins runs that lie side by side and agree.
fn joined(runs: impl Iterator<Item = Run>, agree: impl Fn(&Run, &Run) -> bool) -> Vec<Run> {
    let mut joined: Vec<Run> = Vec::new();
    for run in runs.filter(|run| run.triangle_count > 0) {
        match joined.last_mut() {
            Some(last)
                if last.first_triangle + last.triangle_count == run.first_triangle
                    && agree(last, &run) =>
            {
                last.triangle_count += run.triangle_count;
            }
            _ => joined.push(run),
        }
    }
    joined
}

/// A matrix as WGSL stores it.
pub(super) fn columns(matrix: Mat4) -> [[f32; 4]; 4] {
    matrix.to_cols_array_2d()
}
