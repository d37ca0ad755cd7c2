//! The LBVH over all meshes of a scene and the TLAS above them, regrown in one batch (Karras 2012).

use super::{
    codes::Codes,
    grow::{Grow, Growing},
    hierarchy::{Hierarchy, HierarchyGroups, PLACE_LIMIT, pyramid_levels},
    sort::{Digits, RadixSort, SortBuffers},
};
use crate::{
    Error, Result,
    gpu::{
        Array, Arrays, Gpu,
        layout::{
            BOUNDS_RUN, BOUNDS_THREADS, BOUNDS_WORDS, BuildParams, MORTON_RUN, MORTON_THREADS,
            MeshRange, TlasEntry, TreeInfo,
        },
        pass::{self, Binding},
        profiler::Scope,
        shader,
    },
};
use std::cell::{Cell, RefCell};

/// Merged triangles in GPU memory, as the builder reads them. The buffers need `STORAGE` and `COPY_SRC`.
#[derive(Debug, Clone, Copy)]
pub struct Geometry<'a> {
    /// World positions, three `f32` a vertex.
    pub positions: &'a wgpu::Buffer,
    /// Triangle list with absolute vertex numbers, three `u32` a triangle. The caller has checked their range.
    pub indices: &'a wgpu::Buffer,
    /// Two `u32` a triangle: its mesh, with [`NEEDS_CONSENT`](crate::gpu::layout::NEEDS_CONSENT), and the caller's payload.
    pub triangle_info: &'a wgpu::Buffer,
    /// Where each mesh lies: triangles ascending and without gaps.
    pub meshes: &'a [MeshRange],
}

/// How much of a build is done again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Work {
    /// All of it.
    #[default]
    Rebuild,
    /// The order of the leaves stays as it was: boxes follow the triangles, at lower cost and with trees that age.
    Refit,
}

/// The build's pipelines.
#[derive(Debug)]
pub struct Lbvh {
    bounds: wgpu::ComputePipeline,
    tlas: wgpu::ComputePipeline,
    /// Without codes, which a refit leaves as they were sorted.
    tlas_rows: wgpu::ComputePipeline,
    morton: wgpu::ComputePipeline,
    sort: RadixSort,
    regroup_code: wgpu::ComputePipeline,
    regroup_mesh: [wgpu::ComputePipeline; 2],
    builder: Builder,
}

/// From sorted items to nodes.
#[derive(Debug)]
enum Builder {
    Parallel(Hierarchy),
    Serial(Grow),
}

/// A scene's trees, and what is needed to regrow them.
#[derive(Debug)]
pub struct Tree {
    /// [`TlasEntry`] per mesh.
    pub tlas: wgpu::Buffer,
    /// Four rows a [`Node`](crate::gpu::layout::Node), one node per triangle and then per mesh: those of a mesh begin at its first triangle and
    /// those of the TLAS behind the last triangle, and the last place of each is unused.
    pub nodes: Array,
    /// Three rows a [`LeafTriangle`](crate::gpu::layout::LeafTriangle), in leaf order, and then the meshes in theirs.
    pub triangles: Array,
    info: wgpu::Buffer,
    triangle_count: u32,
    mesh_count: u32,
    meshes: Vec<MeshRange>,
    mesh_bounds: wgpu::Buffer,
    codes: Array,
    order: Array,
    geometry: [Array; 3],
    pairs: SortBuffers,
    params: wgpu::Buffer,
    /// What `params` holds when all items are built.
    params_all: BuildParams,
    items: wgpu::Buffer,
    sorts: Vec<Sort>,
    chosen: RefCell<Chosen>,
    /// Whose order the last sort made: as [`Chosen::meshes`]. `None` before the first one.
    sorted: RefCell<Option<Vec<bool>>>,
    dispatches: Cell<u32>,
    groups: Groups,
}

/// The items of the next builds.
#[derive(Debug, Default)]
struct Chosen {
    /// Whether each mesh is built; empty for all.
    meshes: Vec<bool>,
    item_count: u32,
    item_triangles: u32,
}

/// One sort of a build, and what makes its keys out of the one before.
#[derive(Debug)]
struct Sort {
    regroup: Option<(wgpu::ComputePipeline, wgpu::BindGroup)>,
    digits: Digits,
}

#[derive(Debug)]
struct Groups {
    bounds: wgpu::BindGroup,
    tlas: wgpu::BindGroup,
    tlas_rows: wgpu::BindGroup,
    morton: wgpu::BindGroup,
    builder: BuilderRoom,
}

#[derive(Debug)]
enum BuilderRoom {
    Parallel(HierarchyGroups),
    Serial(Box<Growing>),
}

/// What a scene's trees have room in, for the stages that make nodes.
pub(super) struct Room<'a> {
    pub(super) triangle_count: u32,
    pub(super) mesh_count: u32,
    pub(super) params: &'a wgpu::Buffer,
    pub(super) meshes: &'a wgpu::Buffer,
    pub(super) codes: &'a Array,
    pub(super) nodes: &'a Array,
    pub(super) triangles: &'a Array,
    /// Bindings of common/geometry.wgsl.
    pub(super) scene: [Entry<'a>; 4],
    /// And of common/leaf.wgsl, with what it writes; the first is for meshes.
    pub(super) leaf: [Entry<'a>; 4],
}

/// The dispatches of a build.
#[derive(Debug, Default)]
pub(super) struct Stages {
    dispatches: u32,
}

/// An entry of a bind group.
pub(super) type Entry<'a> = (u32, wgpu::BindingResource<'a>);

pub(super) fn joined<'a>(scene: &[Entry<'a>], more: &[Entry<'a>]) -> Vec<Entry<'a>> {
    scene.iter().chain(more).cloned().collect()
}

pub(super) fn bind(
    gpu: &Gpu,
    label: &str,
    pipeline: &wgpu::ComputePipeline,
    entries: &[Entry<'_>],
) -> wgpu::BindGroup {
    let entries: Vec<_> = entries
        .iter()
        .map(|(binding, resource)| wgpu::BindGroupEntry {
            binding: *binding,
            resource: resource.clone(),
        })
        .collect();
    gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some(label),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &entries,
    })
}

impl Lbvh {
    /// Compiles every stage.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let pipeline =
            |name: &str, entry| pass::compute_pipeline(gpu, &format!("accel/{name}.wgsl"), entry);
        let regroup = shader::module(gpu, "accel/regroup.wgsl")?;
        let regroup = |by_code: bool, shift: u32| {
            let constants = [
                ("REGROUP_BY_CODE", f64::from(u8::from(by_code))),
                ("REGROUP_MESH_SHIFT", f64::from(shift)),
            ];
            pass::compute_pipeline_of(gpu, &regroup, "regroup", None, &constants)
        };
        let builder = match gpu.arrays {
            Arrays::Buffers => Builder::Parallel(Hierarchy::new(gpu)?),
            Arrays::Textures => Builder::Serial(Grow::new(gpu)?),
        };
        let tlas = shader::module(gpu, "accel/tlas.wgsl")?;
        let tlas = |with_codes: bool| {
            let constants = [("TLAS_CODES", f64::from(u8::from(with_codes)))];
            pass::compute_pipeline_of(gpu, &tlas, "tlas", None, &constants)
        };
        Ok(Self {
            bounds: pipeline("bounds", "bounds")?,
            tlas: tlas(true)?,
            tlas_rows: tlas(false)?,
            morton: pipeline("morton", "morton")?,
            sort: RadixSort::new(gpu)?,
            regroup_code: regroup(true, 0)?,
            regroup_mesh: [regroup(false, 2)?, regroup(false, 1)?],
            builder,
        })
    }

    /// Room for the trees of `geometry`; fails when the device's limits do not hold them.
    pub fn tree(&self, gpu: &Gpu, geometry: &Geometry<'_>, codes: Codes) -> Result<Tree> {
        let triangle_count = geometry
            .meshes
            .last()
            .map_or(0, |mesh| mesh.first_triangle + mesh.triangle_count);
        let mesh_count = u32::try_from(geometry.meshes.len()).unwrap_or(u32::MAX);
        let places = triangle_count.saturating_add(mesh_count);
        if places > PLACE_LIMIT {
            return Err(Error::Limit {
                what: "the tree".into(),
                needed: format!("{places} triangles and meshes"),
                allowed: PLACE_LIMIT.to_string(),
                by: "canopy's builder".into(),
            });
        }
        let buffer = |label, count, bytes| room_buffer(gpu, label, triangle_count, count, bytes);
        let array = |label, words, len| room_array(gpu, label, triangle_count, words, len);
        let (level_offset, _) = pyramid_levels(places);
        let params = BuildParams {
            triangle_count,
            mesh_count,
            item_count: places,
            item_triangles: triangle_count,
            all_items: 1,
            axis_bits: axis_bits(geometry.meshes, codes),
            level_offset,
            ..BuildParams::default()
        };
        let params_buffer = gpu.buffer_with("lbvh.params", &[params], wgpu::BufferUsages::UNIFORM);
        let info = TreeInfo {
            triangle_count,
            mesh_count,
        };
        let info = gpu.buffer_with("lbvh.info", &[info], wgpu::BufferUsages::UNIFORM);
        let bounds_words = mesh_count * BOUNDS_WORDS + BOUNDS_WORDS / 2;
        let mesh_bounds = buffer("lbvh.mesh_bounds", bounds_words, 4)?;
        let tlas = buffer("tlas", mesh_count, size_of::<TlasEntry>())?;
        let items = buffer("lbvh.items", places, 4)?;
        let padded: &[MeshRange] = if geometry.meshes.is_empty() {
            &[MeshRange {
                first_triangle: 0,
                triangle_count: 0,
                first_vertex: 0,
            }]
        } else {
            geometry.meshes
        };
        let meshes = gpu.buffer_with("lbvh.meshes", padded, wgpu::BufferUsages::STORAGE);
        let code_words = array("lbvh.codes", 4, places.into())?;
        let nodes = array("lbvh.nodes", 4, 4 * u64::from(places))?;
        let triangles = array("lbvh.triangles", 4, 3 * u64::from(places))?;
        let positions = Array::of_buffer(
            gpu,
            "lbvh.positions",
            1,
            geometry.positions,
            words(geometry.positions),
        )?;
        let indices =
            Array::of_buffer(gpu, "lbvh.indices", 1, geometry.indices, 3 * triangle_count)?;
        let triangle_info = Array::of_buffer(
            gpu,
            "lbvh.triangle_info",
            2,
            geometry.triangle_info,
            triangle_count,
        )?;

        let pairs = self.sort.buffers(gpu, places)?;
        let sorts = self.sorts(gpu, &pairs, &params_buffer, &code_words, &params);
        let side = sorts.last().map_or(0, |sort| sort.digits.last_side());
        let order = pairs.values[side].clone();

        let room = Room {
            triangle_count,
            mesh_count,
            params: &params_buffer,
            meshes: &meshes,
            codes: &code_words,
            nodes: &nodes,
            triangles: &triangles,
            scene: [
                (0, params_buffer.as_entire_binding()),
                (1, positions.read_binding()),
                (2, indices.read_binding()),
                (3, triangle_info.read_binding()),
            ],
            leaf: [
                (4, tlas.as_entire_binding()),
                (5, order.read_binding()),
                (6, code_words.read_binding()),
                (7, triangles.write_binding()),
            ],
        };
        let builder = match &self.builder {
            Builder::Parallel(hierarchy) => BuilderRoom::Parallel(hierarchy.room(gpu, &room)?),
            Builder::Serial(grow) => BuilderRoom::Serial(Box::new(grow.room(gpu, &room)?)),
        };
        let tlas_entries = [
            (0, params_buffer.as_entire_binding()),
            (4, meshes.as_entire_binding()),
            (5, mesh_bounds.as_entire_binding()),
            (6, code_words.write_binding()),
            (7, pairs.keys[0].write_binding()),
            (8, tlas.as_entire_binding()),
        ];
        let groups = Groups {
            bounds: bind(
                gpu,
                "bounds",
                &self.bounds,
                &joined(
                    &room.scene,
                    &[
                        (4, items.as_entire_binding()),
                        (5, mesh_bounds.as_entire_binding()),
                    ],
                ),
            ),
            tlas: bind(gpu, "tlas", &self.tlas, &tlas_entries),
            tlas_rows: bind(gpu, "tlas", &self.tlas_rows, &tlas_entries),
            morton: bind(
                gpu,
                "morton",
                &self.morton,
                &joined(
                    &room.scene,
                    &[
                        (4, items.as_entire_binding()),
                        (5, mesh_bounds.as_entire_binding()),
                        (6, code_words.write_binding()),
                        (7, pairs.keys[0].write_binding()),
                    ],
                ),
            ),
            builder,
        };
        let tree = Tree {
            tlas,
            nodes,
            triangles,
            info,
            triangle_count,
            mesh_count,
            meshes: geometry.meshes.to_vec(),
            mesh_bounds,
            codes: code_words,
            order,
            geometry: [positions, indices, triangle_info],
            pairs,
            params: params_buffer,
            params_all: params,
            items,
            sorts,
            chosen: RefCell::default(),
            sorted: RefCell::default(),
            dispatches: Cell::new(0),
            groups,
        };
        tree.build_only(gpu, None);
        Ok(tree)
    }

    /// The sorts of a build: by code, then by what had no room in a key.
    fn sorts(
        &self,
        gpu: &Gpu,
        buffers: &SortBuffers,
        params: &wgpu::Buffer,
        codes: &Array,
        BuildParams {
            mesh_count,
            axis_bits,
            ..
        }: &BuildParams,
    ) -> Vec<Sort> {
        let mesh_bits = mesh_bits(*mesh_count);
        let key_bits = (3 * axis_bits + mesh_bits).min(32);
        let mut sorts = vec![Sort {
            regroup: None,
            digits: self.sort.digits(gpu, buffers, 0, key_bits, true),
        }];
        let mut add = |pipeline: &wgpu::ComputePipeline, bits: u32| {
            let side = sorts.last().map_or(0, |sort| sort.digits.last_side());
            let entries = [
                (0, params.as_entire_binding()),
                (4, buffers.values[side].read_binding()),
                (5, codes.read_binding()),
                (6, buffers.keys[side].write_binding()),
            ];
            sorts.push(Sort {
                regroup: Some((pipeline.clone(), bind(gpu, "regroup", pipeline, &entries))),
                digits: self.sort.digits(gpu, buffers, side, bits, false),
            });
        };
        let (in_key, by_mesh) = match axis_bits {
            ..=10 => (32 - 3 * axis_bits, &self.regroup_mesh[0]),
            _ => {
                add(&self.regroup_code, 32);
                (1, &self.regroup_mesh[1])
            }
        };
        if mesh_bits > in_key {
            add(by_mesh, mesh_bits - in_key);
        }
        sorts
    }

    /// Regrows every tree from the positions as they stand, or with [`Work::Refit`] what follows from the order that is there: a handful of
    /// dispatches ([`Tree::dispatches`]), no readback, no wait. The first build has to be one of all meshes; a refit of other meshes than were
    /// sorted last is a rebuild of them.
    pub fn record(&self, scope: &mut Scope<'_>, tree: &Tree, work: Work) {
        let mut scope = scope.scope("lbvh");
        let [positions, indices, info] = &tree.geometry;
        publish(&mut scope, &[positions, indices, info]);
        tree.clear_bounds(&mut scope);
        let mut stages = Stages::default();
        let chosen = tree.chosen.borrow();
        let work = if tree.sorted.borrow().as_ref() == Some(&chosen.meshes) {
            work
        } else {
            Work::Rebuild
        };
        if work == Work::Rebuild {
            tree.sorted.replace(Some(chosen.meshes.clone()));
        }
        let (items, groups) = (chosen.item_count, &tree.groups);
        let triangles = chosen.item_triangles.div_ceil(BOUNDS_THREADS * BOUNDS_RUN);
        stages.stage(
            &mut scope,
            "bounds",
            &self.bounds,
            &groups.bounds,
            triangles,
        );
        let (tlas, tlas_group) = match work {
            Work::Rebuild => (&self.tlas, &groups.tlas),
            Work::Refit => (&self.tlas_rows, &groups.tlas_rows),
        };
        let rows = tree.mesh_count.div_ceil(256);
        stages.stage(&mut scope, "tlas", tlas, tlas_group, rows);
        if work == Work::Rebuild {
            let blocks = chosen.item_triangles.div_ceil(MORTON_THREADS * MORTON_RUN);
            stages.stage(&mut scope, "morton", &self.morton, &groups.morton, blocks);
            tree.codes.publish(&mut scope, items);
            tree.pairs.keys[0].publish(&mut scope, items);
            for sort in &tree.sorts {
                if let Some((pipeline, group)) = &sort.regroup {
                    let blocks = items.div_ceil(256);
                    stages.stage(&mut scope, "regroup", pipeline, group, blocks);
                    tree.pairs.keys[sort.digits.first_side()].publish(&mut scope, items);
                }
                stages.dispatches += self.sort.record(&mut scope, &tree.pairs, &sort.digits);
            }
        }
        match (&self.builder, &groups.builder) {
            (Builder::Parallel(hierarchy), BuilderRoom::Parallel(groups)) => {
                hierarchy.record(&mut scope, &mut stages, groups, items);
            }
            (Builder::Serial(grow), BuilderRoom::Serial(growing)) => {
                let counts = (chosen.item_triangles, tree.mesh_count);
                grow.record(&mut scope, &mut stages, growing, counts);
            }
            // The room was made by the builder that this device has.
            _ => {}
        }
        tree.dispatches.set(stages.dispatches);
        publish(&mut scope, &[&tree.triangles, &tree.nodes]);
    }
}

impl Stages {
    /// One dispatch in a pass of its own.
    pub(super) fn stage(
        &mut self,
        scope: &mut Scope<'_>,
        name: &str,
        pipeline: &wgpu::ComputePipeline,
        group: &wgpu::BindGroup,
        workgroups: u32,
    ) {
        let mut pass = scope.scoped_compute_pass(name);
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass::dispatch(&mut pass, workgroups);
        self.dispatches += 1;
    }
}

/// Zeros for the trees of so many triangles, or which limit they do not fit.
fn room_array(gpu: &Gpu, label: &str, triangles: u32, words: u32, len: u64) -> Result<Array> {
    let what = format!("{label} of {triangles} triangles");
    Array::new(gpu, &what, words, u32::try_from(len).unwrap_or(u32::MAX))
}

/// As [`room_array`], a buffer of `count` elements.
fn room_buffer(
    gpu: &Gpu,
    label: &str,
    triangles: u32,
    count: u32,
    bytes: usize,
) -> Result<wgpu::Buffer> {
    let bytes = u64::from(count.max(1)) * bytes as u64;
    gpu.check_binding(&format!("{label} of {triangles} triangles"), bytes)?;
    let usage =
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    Ok(gpu.buffer(label, bytes, usage))
}

impl Room<'_> {
    pub(super) fn array(&self, gpu: &Gpu, label: &str, words: u32, len: u64) -> Result<Array> {
        room_array(gpu, label, self.triangle_count, words, len)
    }

    pub(super) fn buffer(
        &self,
        gpu: &Gpu,
        label: &str,
        count: u32,
        bytes: usize,
    ) -> Result<wgpu::Buffer> {
        room_buffer(gpu, label, self.triangle_count, count, bytes)
    }
}

impl Tree {
    /// From now on builds only the trees of those meshes (and the TLAS), or of all again. The others stay as they were built last. Cheap where
    /// nothing changes. It takes effect through the queue: what has been recorded has to be submitted before.
    pub fn build_only(&self, gpu: &Gpu, meshes: Option<&[bool]>) {
        let meshes = meshes.unwrap_or_default();
        let meshes = &meshes[..meshes.len().min(self.meshes.len())];
        let mut chosen = self.chosen.borrow_mut();
        if chosen.item_count > 0 && chosen.meshes == meshes {
            return;
        }
        chosen.meshes = meshes.to_vec();
        let mut items = Vec::new();
        if meshes.is_empty() {
            chosen.item_triangles = self.triangle_count;
        } else {
            for (mesh, range) in self.meshes.iter().enumerate() {
                if meshes.get(mesh) == Some(&true) {
                    items.extend(range.first_triangle..range.first_triangle + range.triangle_count);
                }
            }
            chosen.item_triangles = items.len() as u32;
            items.extend(self.triangle_count..self.triangle_count + self.mesh_count);
            gpu.queue
                .write_buffer(&self.items, 0, bytemuck::cast_slice(&items));
        }
        chosen.item_count = chosen.item_triangles + self.mesh_count;
        let params = BuildParams {
            item_count: chosen.item_count,
            item_triangles: chosen.item_triangles,
            all_items: u32::from(meshes.is_empty()),
            ..self.params_all
        };
        gpu.queue
            .write_buffer(&self.params, 0, bytemuck::bytes_of(&params));
        for sort in &self.sorts {
            sort.digits.set_count(gpu, chosen.item_count);
        }
        if let BuilderRoom::Serial(growing) = &self.groups.builder {
            growing.set_counts(gpu, chosen.item_triangles, self.mesh_count);
        }
    }

    fn clear_bounds(&self, encoder: &mut wgpu::CommandEncoder) {
        let words = u64::from(BOUNDS_WORDS) * 4;
        let chosen = self.chosen.borrow();
        if chosen.meshes.is_empty() {
            encoder.clear_buffer(&self.mesh_bounds, 0, None);
            return;
        }
        // Runs of neighbours in one command each. The scene's box only grows until all is built again: it is but the TLAS's grid.
        let mut first = 0;
        for run in chosen.meshes.chunk_by(|a, b| a == b) {
            if run[0] {
                encoder.clear_buffer(
                    &self.mesh_bounds,
                    first * words,
                    Some(run.len() as u64 * words),
                );
            }
            first += run.len() as u64;
        }
    }

    /// Triangles in all trees.
    pub fn triangle_count(&self) -> u32 {
        self.triangle_count
    }

    /// Meshes, each with a tree.
    pub fn mesh_count(&self) -> u32 {
        self.mesh_count
    }

    /// Dispatches of the last build that was recorded. They depend on the adapter's road, on whether the scene is tiny, on the bits of the codes
    /// and of the number of meshes: never on the single meshes.
    pub fn dispatches(&self) -> u32 {
        self.dispatches.get()
    }

    /// The positions that the trees are grown over.
    pub fn positions(&self) -> &wgpu::Buffer {
        self.geometry[0].buffer()
    }

    /// What was sorted to each position: the position that it had among the items.
    pub fn order(&self) -> &Array {
        &self.order
    }

    /// Of each item its Morton code (high word, low word), the item and its mesh.
    pub fn codes(&self) -> &Array {
        &self.codes
    }

    /// Of each mesh its centroids' bounds and its box, then the scene's box: twelve, twelve, … and six `u32` as accel/bounds.wgsl encodes them.
    pub fn mesh_bounds(&self) -> &wgpu::Buffer {
        &self.mesh_bounds
    }

    /// The bindings of `common/bvh.wgsl`: sizes, nodes, triangles.
    pub fn layout(gpu: &Gpu, visibility: wgpu::ShaderStages) -> wgpu::BindGroupLayout {
        let bindings = [Binding::Uniform, Binding::ReadArray, Binding::ReadArray];
        pass::layout(gpu, "tree", &bindings.map(|binding| (visibility, binding)))
    }

    /// The bind group for [`Tree::layout`].
    pub fn bind_group(&self, gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> wgpu::BindGroup {
        let resources = [
            self.info.as_entire_binding(),
            self.nodes.read_binding(),
            self.triangles.read_binding(),
        ];
        pass::bind_group(gpu, "tree", layout, &resources)
    }
}

/// Bits that tell the meshes apart; the TLAS counts as one more.
fn mesh_bits(mesh_count: u32) -> u32 {
    u32::BITS - mesh_count.leading_zeros()
}

/// Bits of a code along each axis. Karras's 10, of which two bits are left in a word for the mesh's number. Where the meshes are more, fewer do if
/// that number then fits as well and cells are still four times finer than the largest mesh's triangles, spread over a surface, and almost three
/// times finer than the meshes, spread over the scene's volume: a scene of many small meshes is sorted by as many digits as a large one.
pub fn axis_bits(meshes: &[MeshRange], codes: Codes) -> u32 {
    if codes == Codes::Bits63 {
        return 21;
    }
    let mesh_bits = mesh_bits(meshes.len() as u32);
    let room = (u32::BITS - mesh_bits) / 3;
    let largest = meshes.iter().map(|mesh| mesh.triangle_count).max();
    let over_surface = f64::from(largest.unwrap_or(0).max(1)).log2() / 2.0 + 2.0;
    let over_volume = f64::from(meshes.len().max(1) as u32).log2() / 3.0 + 1.5;
    if mesh_bits > 2 && f64::from(room) >= over_surface.max(over_volume) {
        room.min(10)
    } else {
        10
    }
}

/// Lets shaders read all of `arrays`, in a scope that tells the time of it where that is work.
fn publish(scope: &mut Scope<'_>, arrays: &[&Array]) {
    if arrays.iter().any(|array| array.has_texture()) {
        let mut scope = scope.scope("publish");
        for array in arrays {
            array.publish(&mut scope, array.len());
        }
    }
}

fn words(buffer: &wgpu::Buffer) -> u32 {
    u32::try_from(buffer.size() / 4).unwrap_or(u32::MAX)
}
