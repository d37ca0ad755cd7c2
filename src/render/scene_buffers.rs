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
        Gpu, Needs, OnDemand,
        layout::{DeformPart, LIGHT_LIMIT, MeshRange, NEEDS_CONSENT},
        pass,
    },
    scene::{
        AlphaMode, Pose, Primitive, Scene, Shading,
        animation::instance_matrices,
        bounds::{Aabb, Bounds},
        framing,
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

/// Lines or points of one part, which lie side by side behind the triangles of the merged buffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentRun {
    /// Index of the material.
    pub material: usize,
    /// Whether they are points.
    pub is_points: bool,
    /// The first, counted from the first line or point of the scene.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// The part's place in [`Bounds::parts`].
    pub part: usize,
}

impl SegmentRun {
    /// What is drawn: `line_vertex` takes two vertices a line, `point_vertex` one a point.
    pub fn corners(self) -> Range<u32> {
        let vertices = if self.is_points { 1 } else { 2 };
        vertices * self.first..vertices * (self.first + self.count)
    }
}

/// Flags above the 30 bits of a vertex number of lines and points; as in common/points_lines.wgsl.
const SEGMENT_UNLIT: u32 = 1 << 31;
const SEGMENT_PLAIN: u32 = 1 << 30;

/// The lists of [`SceneBuffers`] that are drawn.
struct DrawLists {
    layered: bool,
    solid: Vec<Run>,
    blended: Vec<(Run, usize)>,
    opaque_casters: Vec<Run>,
    masked_casters: Vec<Run>,
    blended_casters: Vec<Run>,
    segments: Vec<SegmentRun>,
    blended_segments: Vec<SegmentRun>,
}

impl DrawLists {
    /// Sorts out the runs of all parts.
    fn new(scene: &Scene, surfaces: &Surfaces) -> Self {
        let material = |run: &Run| &scene.materials[run.material];
        let parts = || surfaces.runs.iter().copied().enumerate();
        let parts = || parts().filter(|(_, run)| run.triangle_count > 0);
        let runs = || parts().map(|(_, run)| run);
        let solid = |run: &Run| !material(run).is_blended();
        let of_mode =
            |mode| runs().filter(move |run| solid(run) && material(run).alpha_mode == mode);
        let same = |a: &Run, b: &Run| a.material == b.material;
        let blended = parts().filter(|(_, run)| !solid(run));
        // Of light that is transmitted points and lines know nothing.
        let is_blended =
            |run: &&SegmentRun| scene.materials[run.material].alpha_mode == AlphaMode::Blend;
        let (blended_segments, segments) = surfaces.segments.iter().partition(is_blended);
        let casts = |run: &Run| !solid(run) && !material(run).is_clear();
        Self {
            layered: runs().any(|run| solid(&run) && material(&run).layers.is_some()),
            solid: joined(runs().filter(solid), same),
            blended: blended.map(|(part, run)| (run, part)).collect(),
            opaque_casters: joined(of_mode(AlphaMode::Opaque), |_, _| true),
            masked_casters: joined(of_mode(AlphaMode::Mask), same),
            blended_casters: runs().filter(casts).collect(),
            segments,
            blended_segments,
        }
    }
}

/// A scene in GPU memory.
#[derive(Debug)]
pub struct SceneBuffers {
    /// World positions, three floats a vertex; written by `deform`.
    pub positions: wgpu::Buffer,
    /// World normal (3 floats) and tangent (4) of each vertex, as `deform` writes them.
    pub frames: wgpu::Buffer,
    /// UV sets and colour of each vertex: 24 bytes.
    pub vertices: wgpu::Buffer,
    /// Triangle list; behind it two numbers a line, and the same one twice a point.
    pub indices: wgpu::Buffer,
    /// Mesh and material of each triangle, and behind them of each line and point.
    pub triangle_info: wgpu::Buffer,
    /// Vertices in the merged buffers.
    pub vertex_count: u32,
    /// Triangles in the merged buffers.
    pub triangle_count: u32,
    /// Lines and points in the merged buffers.
    pub line_and_point_counts: [u32; 2],
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
    /// Opaque and masked lines and points, for the G-buffer.
    pub segments: Vec<SegmentRun>,
    /// Blended ones.
    pub blended_segments: Vec<SegmentRun>,
    /// Whether any solid run has layers.
    pub layered: bool,
    /// Boxes around the scene at any pose.
    pub bounds: Bounds,
    /// Where the frame's coordinates, those of the merged buffers too, have their origin in the world: [`framing::origin`] of the rest pose.
    pub origin: Vec3,
    /// A number of its own, and another one after each change of variant: what was found out about an earlier one no longer holds.
    pub version: u64,
    parts_without_triangles: Vec<usize>,
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
    surfaces: Surfaces,
    /// Ends of lines, with flags.
    segments: Vec<[u32; 2]>,
    meshes: Vec<MeshRange>,
    matrix_count: u32,
    weight_count: u32,
}

/// Which mesh and material everything that is drawn has, and where each part's lies.
#[derive(Default)]
struct Surfaces {
    /// Of each triangle, then of each line and point.
    info: Vec<[u32; 2]>,
    /// One per part; that of a part without triangles is empty.
    runs: Vec<Run>,
    /// Those of parts that have any, up to two per part.
    segments: Vec<SegmentRun>,
}

/// Brings scenes into GPU memory; shared with the thread that loads them.
#[derive(Debug)]
pub struct Uploader {
    pub(super) layouts: Layouts,
    pub(super) deform: OnDemand<Deform>,
    pub(super) lbvh: OnDemand<Lbvh>,
    pub(super) cost: Cost,
    mipmap: Mipmap,
}

impl Uploader {
    /// The first scene compiles the passes that its buffers are bound to.
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            layouts: Layouts::new(gpu),
            deform: OnDemand::new("deform", Deform::new),
            lbvh: OnDemand::new("lbvh", Lbvh::new),
            cost: Cost::new(gpu),
            mipmap: Mipmap::new(gpu),
        }
    }

    /// Uploads `scene`, or says which limit it does not fit.
    pub fn upload(&self, gpu: &Gpu, scene: &Scene, config: &Config) -> Result<SceneBuffers> {
        match lights::without_room(scene, config) {
            0 => {}
            more => log::warn!("{more} lights past the first {LIGHT_LIMIT} do not shine"),
        }
        check_sizes(gpu, scene, config)?;
        let mut needs = Needs::default();
        needs.add(&self.deform);
        needs.add(&self.lbvh);
        needs.meet(gpu)?;
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
        let (deform, lbvh) = (deform.get(gpu)?, lbvh.get(gpu)?);
        let merge = merge(scene);
        let (vertex_count, triangle_count) = (
            merge.part_of_vertex.len() as u32,
            (merge.surfaces.info.len() - merge.segments.len()) as u32,
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
        let triangle_bytes = u64::from(triangle_count) * 12;
        let segments: &[u8] = bytemuck::cast_slice(&merge.segments);
        let indices = gpu.buffer(
            "merged.indices",
            triangle_bytes + segments.len() as u64,
            index_usage,
        );
        if !segments.is_empty() {
            gpu.queue.write_buffer(&indices, triangle_bytes, segments);
        }
        let triangle_info = gpu.buffer_with(
            "merged.triangle_info",
            &merge.surfaces.info,
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
        let lists = DrawLists::new(scene, &merge.surfaces);
        let parts = merge.surfaces.runs.iter().enumerate();
        let without_triangles = parts.filter(|(_, run)| run.triangle_count == 0);
        Ok(SceneBuffers {
            layered: lists.layered,
            solid: lists.solid,
            blended: lists.blended,
            opaque_casters: lists.opaque_casters,
            masked_casters: lists.masked_casters,
            blended_casters: lists.blended_casters,
            segments: lists.segments,
            blended_segments: lists.blended_segments,
            line_and_point_counts: scene.line_and_point_counts().map(|count| count as u32),
            origin: framing::origin(bounds.scene(scene, &Pose::new(scene, None, 0.0))),
            bounds,
            parts_without_triangles: without_triangles.map(|(part, _)| part).collect(),
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
        let surfaces = Surfaces::of(scene);
        gpu.queue
            .write_buffer(&self.triangle_info, 0, bytemuck::cast_slice(&surfaces.info));
        let lists = DrawLists::new(scene, &surfaces);
        (self.segments, self.blended_segments) = (lists.segments, lists.blended_segments);
        (self.solid, self.blended) = (lists.solid, lists.blended);
        (self.opaque_casters, self.masked_casters) = (lists.opaque_casters, lists.masked_casters);
        (self.layered, self.blended_casters) = (lists.layered, lists.blended_casters);
        // Leaves hold materials too.
        self.regrowth.forget();
        self.version = next_version();
    }

    /// The box of the parts that have triangles, or of all where none has; `parts` are the boxes of all parts.
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

    /// Writes the triangles of every instance whose winding is not what the index buffer holds. Those of neighbours go together: a write takes
    /// staging memory of its own.
    fn write_indices(&self, gpu: &Gpu, scene: &Scene, mirrored: &[bool]) {
        let held = self.mirrored.borrow();
        let mut first_triangle = 0;
        let mut indices: Vec<[u32; 3]> = Vec::new();
        let write = |first_triangle: u32, indices: &mut Vec<[u32; 3]>| {
            if !indices.is_empty() {
                let bytes = bytemuck::cast_slice(indices);
                gpu.queue
                    .write_buffer(&self.indices, u64::from(first_triangle) * 12, bytes);
                indices.clear();
            }
        };
        for (instance, (node, mesh)) in scene.instances().enumerate() {
            if held.get(instance) == Some(&mirrored[instance]) {
                write(first_triangle, &mut indices);
                continue;
            }
            let range = self.meshes[instance];
            if indices.is_empty() {
                first_triangle = range.first_triangle;
            }
            let mut base = range.first_vertex;
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
            if indices.len() >= WRITTEN_TRIANGLES {
                write(first_triangle, &mut indices);
            }
        }
        write(first_triangle, &mut indices);
    }
}

/// Triangles of instances after which their indices are written.
const WRITTEN_TRIANGLES: usize = 1 << 20;

/// Floats that can be compared, whatever they are.
fn bits(floats: &[f32]) -> &[u32] {
    bytemuck::cast_slice(floats)
}

/// Of each primitive some triangles, at rest, with the box of its mesh.
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

/// How much of everything a scene has, counted before anything is allocated, in numbers that do not overflow.
#[derive(Debug, Default)]
struct Sizes {
    vertices: u64,
    triangles: u64,
    /// Lines and points.
    segments: u64,
    /// Bind-pose vertices, once per mesh.
    sources: u64,
    influences: u64,
    /// Morph offsets: targets × vertices, once per mesh.
    deltas: u64,
    matrices: u64,
    weights: u64,
}

impl Sizes {
    /// Adds what an instance takes; `first` says whether it is the first of its mesh.
    fn add(&mut self, scene: &Scene, node: usize, mesh: usize, first: bool) {
        let skin = scene.nodes[node].skin;
        let primitives = &scene.meshes[mesh].primitives;
        let targets = primitives.iter().map(|primitive| primitive.targets.len());
        self.weights += targets.max().unwrap_or(0) as u64;
        self.matrices += 1 + skin.map_or(0, |skin| scene.skins[skin].joints.len() as u64);
        for primitive in primitives {
            let vertices = primitive.positions.len() as u64;
            self.vertices += vertices;
            self.triangles += primitive.indices.len() as u64;
            self.segments += (primitive.lines.len() + primitive.points.len()) as u64;
            if first {
                self.sources += vertices;
                self.influences += primitive.joints.len() as u64;
                self.deltas += vertices * primitive.targets.len() as u64;
            }
        }
    }

    /// What is bound as a whole, and its bytes.
    fn bindings(&self) -> [(&'static str, u64); 7] {
        [
            ("merged normals and tangents", self.vertices * 28),
            (
                "merged indices",
                (3 * self.triangles + 2 * self.segments) * 4,
            ),
            ("tree's nodes", self.triangles * 64),
            ("bind-pose vertices", self.sources * 40),
            ("joint influences", self.influences * 8),
            ("morph targets", self.deltas * 36),
            ("pose", (16 * self.matrices + self.weights) * 4),
        ]
    }

    /// Fails where points and lines leave too few bits for the numbers of vertices.
    fn check_numbers(&self) -> Result<()> {
        let numbers = self.vertices.max(self.triangles + self.segments);
        if self.segments > 0 && numbers >= SEGMENT_PLAIN.into() {
            return Err(Error::Limit {
                what: "a scene with points or lines".into(),
                needed: format!("{numbers} vertices or triangles"),
                allowed: format!("{SEGMENT_PLAIN} of them"),
                by: "the numbers of vertices, which have 30 bits".into(),
            });
        }
        Ok(())
    }
}

/// Fails where the configuration or the device does not hold a scene, and says how much of it would fit: as many instances as there is room
/// for, from the first on.
fn check_sizes(gpu: &Gpu, scene: &Scene, config: &Config) -> Result<()> {
    let most_bytes = gpu.binding_limit();
    let most_triangles = config.load.max_triangles;
    let mut sizes = Sizes::default();
    let mut seen = vec![false; scene.meshes.len()];
    let (mut instances, mut fitting, mut fault) = (0_u64, 0, None);
    for (node, mesh) in scene.instances() {
        let first = !std::mem::replace(&mut seen[mesh], true);
        let fitted = sizes.triangles;
        sizes.add(scene, node, mesh, first);
        if fault.is_none() {
            let bindings = sizes.bindings();
            let large = bindings.iter().position(|(_, bytes)| *bytes > most_bytes);
            if sizes.triangles > most_triangles || large.is_some() {
                (fitting, fault) = (instances, Some((large, fitted)));
            }
        }
        instances += 1;
    }
    let Some((large, fitted)) = fault else {
        return sizes.check_numbers();
    };
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let (by, share) = match large {
        None => ("load.max_triangles".to_owned(), most_triangles),
        Some(place) => {
            let (what, bytes) = sizes.bindings()[place];
            let [needed, most] = [bytes, most_bytes].map(mib);
            let by = format!(
                "the {what} are {needed}, and {} binds {most}",
                gpu.info.name
            );
            let share = u128::from(sizes.triangles) * u128::from(most_bytes) / u128::from(bytes);
            (by, u64::try_from(share).unwrap_or(u64::MAX))
        }
    };
    let count =
        |instances: u64, triangles: u64| format!("{triangles} triangles in {instances} instances");
    Err(Error::Limit {
        what: "the scene".into(),
        needed: count(instances, sizes.triangles),
        allowed: if fitting > 0 {
            count(fitting, fitted)
        } else {
            format!("about {share} triangles")
        },
        by,
    })
}

impl Surfaces {
    fn of(scene: &Scene) -> Self {
        let (mut info, mut runs) = (Vec::new(), Vec::new());
        let parts = || {
            let instances = scene.instances().enumerate();
            instances.flat_map(|(instance, (_, mesh))| {
                let primitives = &scene.meshes[mesh].primitives;
                primitives.iter().map(move |p| (instance as u32, p))
            })
        };
        for (instance, primitive) in parts() {
            let material = &scene.materials[primitive.material];
            let solid = material.alpha_mode == AlphaMode::Opaque && !material.is_blended();
            let consent = if solid { 0 } else { NEEDS_CONSENT };
            runs.push(Run {
                material: primitive.material,
                first_triangle: info.len() as u32,
                triangle_count: primitive.indices.len() as u32,
            });
            let of_triangle = [instance | consent, primitive.material as u32];
            info.extend(std::iter::repeat_n(of_triangle, primitive.indices.len()));
        }
        let (triangle_count, mut segments) = (info.len(), Vec::new());
        for (part, (instance, primitive)) in parts().enumerate() {
            for (is_points, count) in [
                (false, primitive.lines.len()),
                (true, primitive.points.len()),
            ] {
                if count > 0 {
                    segments.push(SegmentRun {
                        material: primitive.material,
                        is_points,
                        first: (info.len() - triangle_count) as u32,
                        count: count as u32,
                        part,
                    });
                    let of_segment = [instance, primitive.material as u32];
                    info.extend(std::iter::repeat_n(of_segment, count));
                }
            }
        }
        Self {
            info,
            runs,
            segments,
        }
    }
}

/// Puts the scene together: sources once per mesh, merged vertices and triangles once per instance.
fn merge(scene: &Scene) -> Merge {
    let mut merge = Merge {
        surfaces: Surfaces::of(scene),
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
            merge
                .segments
                .extend(segments(primitive, part.first_vertex));
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

/// Lines, then points, of a primitive whose vertices begin at `first_vertex`, with flags.
fn segments(primitive: &Primitive, first_vertex: u32) -> impl Iterator<Item = [u32; 2]> + '_ {
    let flags = match primitive.shading {
        Shading::Unlit => SEGMENT_UNLIT,
        Shading::Plain => SEGMENT_PLAIN,
        Shading::Mapped => 0,
    };
    let points = primitive.points.iter().map(|&point| [point; 2]);
    let lines = primitive.lines.iter().copied().chain(points);
    lines.map(move |line| line.map(|vertex| (first_vertex + vertex) | flags))
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
