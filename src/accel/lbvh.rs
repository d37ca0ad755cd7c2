//! The LBVH over all meshes of a scene and the TLAS above them, regrown in one batch (Karras 2012).

use super::sort::{Digits, RadixSort, SortBuffers};
use crate::{
    Error, Result,
    gpu::{
        Array, Arrays, Gpu,
        layout::{BuildParams, GROW_FAN, GROW_RUN, GROW_SEGMENTS, MeshRange, TlasEntry, TreeInfo},
        pass::{self, Binding},
        profiler::Scope,
        shader,
    },
};
use std::cell::{Cell, RefCell};

/// Words of `mesh_bounds` per mesh; half as many follow for the scene.
const BOUNDS_WORDS: u32 = 12;
/// Triangles of one workgroup of `bounds`.
const BOUNDS_BLOCK: u32 = 64 * 16;
/// Triangles of one workgroup of `morton`.
const MORTON_BLOCK: u32 = 64 * 8;
/// Levels that one dispatch of `pyramid` adds.
const PYRAMID_STEP: u32 = 9;
/// Places that three such dispatches cover.
const PLACE_LIMIT: u32 = 1 << (3 * PYRAMID_STEP);

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

/// Bits of the Morton codes of triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Codes {
    /// 30 bits; fewer for many small meshes, where that leaves room for the mesh's number in the same word: see [`axis_bits`].
    #[default]
    Bits30,
    /// 63 bits: eight digits, for meshes whose detail is much finer than a thousandth of their size.
    Bits63,
}

impl Codes {
    /// Those of so many bits: 63, or 30 otherwise.
    pub fn of_bits(bits: u32) -> Self {
        match bits {
            63 => Self::Bits63,
            _ => Self::Bits30,
        }
    }
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
    morton: wgpu::ComputePipeline,
    sort: RadixSort,
    regroup_code: wgpu::ComputePipeline,
    regroup_mesh: [wgpu::ComputePipeline; 2],
    builder: Builder,
}

/// From sorted items to nodes.
#[derive(Debug)]
enum Builder {
    /// A thread per leaf and node.
    Parallel {
        leaves: wgpu::ComputePipeline,
        pyramid: wgpu::ComputePipeline,
        hierarchy: wgpu::ComputePipeline,
    },
    /// On software adapters, a thread per run of leaves.
    Serial {
        grow_leaves: wgpu::ComputePipeline,
        grow_meshes: wgpu::ComputePipeline,
        grow_nodes: wgpu::ComputePipeline,
    },
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
    morton: wgpu::BindGroup,
    builder: BuilderGroups,
}

#[derive(Debug)]
enum BuilderGroups {
    Parallel {
        leaves: wgpu::BindGroup,
        pyramid: [wgpu::BindGroup; 3],
        hierarchy: wgpu::BindGroup,
    },
    Serial {
        leaves: wgpu::BindGroup,
        meshes: wgpu::BindGroup,
        /// How many runs there are: over all items, and over triangles.
        runs: wgpu::Buffer,
        /// Until one run is left.
        nodes: Vec<(wgpu::BindGroup, wgpu::Buffer)>,
        /// Segments and their counts, which are read and written in turns.
        lists: [(Array, Array); 2],
    },
}

/// An entry of a bind group.
type Entry<'a> = (u32, wgpu::BindingResource<'a>);

fn joined<'a>(scene: &[Entry<'a>], more: &[Entry<'a>]) -> Vec<Entry<'a>> {
    scene.iter().chain(more).cloned().collect()
}

fn bind(
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
            Arrays::Buffers => Builder::Parallel {
                leaves: pipeline("leaves", "leaves")?,
                pyramid: pipeline("pyramid", "pyramid_levels")?,
                hierarchy: pipeline("hierarchy", "hierarchy")?,
            },
            Arrays::Textures => Builder::Serial {
                grow_leaves: pipeline("grow", "grow_leaves")?,
                grow_meshes: pipeline("grow", "grow_meshes")?,
                grow_nodes: pipeline("grow", "grow_nodes")?,
            },
        };
        Ok(Self {
            bounds: pipeline("bounds", "bounds")?,
            tlas: pipeline("tlas", "tlas")?,
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
        let storage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let buffer = |label: &str, count: u32, bytes: usize| {
            let bytes = u64::from(count.max(1)) * bytes as u64;
            gpu.check_binding(&format!("{label} of {triangle_count} triangles"), bytes)?;
            Ok::<_, Error>(gpu.buffer(label, bytes, storage))
        };
        let array = |label: &str, words: u32, len: u64| {
            let what = format!("{label} of {triangle_count} triangles");
            Array::new(gpu, &what, words, u32::try_from(len).unwrap_or(u32::MAX))
        };
        let (level_offset, box_count) = pyramid_levels(places);
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
        let meshes = gpu.buffer_with("lbvh.meshes", padded, storage);
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

        let scene = [
            (0, params_buffer.as_entire_binding()),
            (1, positions.read_binding()),
            (2, indices.read_binding()),
            (3, triangle_info.read_binding()),
        ];
        let leaf = [
            (4, tlas.as_entire_binding()),
            (5, order.read_binding()),
            (6, code_words.read_binding()),
            (7, triangles.write_binding()),
        ];
        let builder = match &self.builder {
            Builder::Parallel {
                leaves,
                pyramid,
                hierarchy,
            } => {
                let boxes = buffer("lbvh.pyramid", box_count, 24)?;
                let sorted_codes = array("lbvh.sorted_codes", 2, places.into())?;
                let pyramid_group = |step: u32| {
                    let base_level = [[step * PYRAMID_STEP, 0, 0, 0]];
                    let usage = wgpu::BufferUsages::UNIFORM;
                    let base_level = gpu.buffer_with("pyramid.base_level", &base_level, usage);
                    let entries = [
                        (0, params_buffer.as_entire_binding()),
                        (4, boxes.as_entire_binding()),
                        (5, base_level.as_entire_binding()),
                        (6, triangles.read_binding()),
                    ];
                    bind(gpu, "pyramid", pyramid, &entries)
                };
                let mut leaf_entries = joined(&scene, &leaf);
                leaf_entries.push((8, sorted_codes.write_binding()));
                BuilderGroups::Parallel {
                    leaves: bind(gpu, "leaves", leaves, &leaf_entries),
                    pyramid: [pyramid_group(0), pyramid_group(1), pyramid_group(2)],
                    hierarchy: bind(
                        gpu,
                        "hierarchy",
                        hierarchy,
                        &[
                            (0, params_buffer.as_entire_binding()),
                            (4, meshes.as_entire_binding()),
                            (5, sorted_codes.read_binding()),
                            (6, triangles.read_binding()),
                            (7, boxes.as_entire_binding()),
                            (8, nodes.write_binding()),
                            (9, code_words.read_binding()),
                        ],
                    ),
                }
            }
            Builder::Serial {
                grow_leaves,
                grow_meshes,
                grow_nodes,
            } => {
                let runs = runs(triangle_count, mesh_count).0.max(1);
                let list = |runs: u32| {
                    let rows = 3 * u64::from(GROW_SEGMENTS) * u64::from(runs);
                    Ok::<_, Error>((
                        array("grow.segments", 4, rows)?,
                        array("grow.counts", 1, runs.into())?,
                    ))
                };
                let lists = [list(runs)?, list(runs.div_ceil(GROW_FAN))?];
                let number = || {
                    let usage = wgpu::BufferUsages::UNIFORM;
                    gpu.buffer_with("grow.runs", &[[0u32; 4]], usage)
                };
                let items_runs = number();
                let out = [
                    (8, nodes.write_binding()),
                    (11, lists[0].0.write_binding()),
                    (12, lists[0].1.write_binding()),
                    (13, items_runs.as_entire_binding()),
                ];
                let leaves = joined(&joined(&scene, &leaf), &out);
                let leaves: Vec<_> = leaves.into_iter().filter(|entry| entry.0 != 4).collect();
                let leaves = bind(gpu, "grow_leaves", grow_leaves, &leaves);
                let meshes = joined(&joined(&scene[..1], &leaf), &out);
                let meshes = bind(gpu, "grow_meshes", grow_meshes, &meshes);
                let (mut left, mut nodes_groups) = (runs, Vec::new());
                while left > 1 {
                    let runs = number();
                    let from = nodes_groups.len() % 2;
                    let entries = [
                        (8, nodes.write_binding()),
                        (9, lists[from].0.read_binding()),
                        (10, lists[from].1.read_binding()),
                        (11, lists[1 - from].0.write_binding()),
                        (12, lists[1 - from].1.write_binding()),
                        (13, runs.as_entire_binding()),
                    ];
                    let group = bind(gpu, "grow_nodes", grow_nodes, &entries);
                    nodes_groups.push((group, runs));
                    left = left.div_ceil(GROW_FAN);
                }
                BuilderGroups::Serial {
                    leaves,
                    meshes,
                    runs: items_runs,
                    nodes: nodes_groups,
                    lists,
                }
            }
        };
        let groups = Groups {
            bounds: bind(
                gpu,
                "bounds",
                &self.bounds,
                &joined(
                    &scene,
                    &[
                        (4, items.as_entire_binding()),
                        (5, mesh_bounds.as_entire_binding()),
                    ],
                ),
            ),
            tlas: bind(
                gpu,
                "tlas",
                &self.tlas,
                &[
                    (0, params_buffer.as_entire_binding()),
                    (4, meshes.as_entire_binding()),
                    (5, mesh_bounds.as_entire_binding()),
                    (6, code_words.write_binding()),
                    (7, pairs.keys[0].write_binding()),
                    (8, tlas.as_entire_binding()),
                ],
            ),
            morton: bind(
                gpu,
                "morton",
                &self.morton,
                &joined(
                    &scene,
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
    /// dispatches ([`Tree::dispatches`]), no readback, no wait.
    pub fn record(&self, scope: &mut Scope<'_>, tree: &Tree, work: Work) {
        let mut scope = scope.scope("lbvh");
        let [positions, indices, info] = &tree.geometry;
        publish(&mut scope, &[positions, indices, info]);
        tree.clear_bounds(&mut scope);
        let mut dispatches = 0;
        let mut stage = |scope: &mut Scope<'_>, name: &str, pipeline, group, groups| {
            let mut pass = scope.scoped_compute_pass(name);
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, group, &[]);
            pass::dispatch(&mut pass, groups);
            dispatches += 1;
        };
        let chosen = tree.chosen.borrow();
        let (items, groups) = (chosen.item_count, &tree.groups);
        let triangles = chosen.item_triangles.div_ceil(BOUNDS_BLOCK);
        stage(
            &mut scope,
            "bounds",
            &self.bounds,
            &groups.bounds,
            triangles,
        );
        let rows = tree.mesh_count.div_ceil(256);
        stage(&mut scope, "tlas", &self.tlas, &groups.tlas, rows);
        let mut sorting = 0;
        if work == Work::Rebuild {
            let blocks = chosen.item_triangles.div_ceil(MORTON_BLOCK);
            stage(&mut scope, "morton", &self.morton, &groups.morton, blocks);
            tree.codes.publish(&mut scope, items);
            tree.pairs.keys[0].publish(&mut scope, items);
            for sort in &tree.sorts {
                if let Some((pipeline, group)) = &sort.regroup {
                    let blocks = items.div_ceil(256);
                    stage(&mut scope, "regroup", pipeline, group, blocks);
                    tree.pairs.keys[sort.digits.first_side()].publish(&mut scope, items);
                }
                sorting += self.sort.record(&mut scope, &tree.pairs, &sort.digits);
            }
        }
        match (&self.builder, &groups.builder) {
            (
                Builder::Parallel {
                    leaves,
                    pyramid,
                    hierarchy,
                },
                BuilderGroups::Parallel {
                    leaves: leaves_group,
                    pyramid: pyramid_groups,
                    hierarchy: hierarchy_group,
                },
            ) => {
                let per_item = items.div_ceil(256);
                stage(&mut scope, "leaves", leaves, leaves_group, per_item);
                {
                    let mut pass = scope.scoped_compute_pass("pyramid");
                    pass.set_pipeline(pyramid);
                    for (step, group) in (0..).zip(pyramid_groups) {
                        let places = tree.triangle_count + tree.mesh_count;
                        let boxes = places.div_ceil(1 << (step * PYRAMID_STEP));
                        if boxes > 1 {
                            pass.set_bind_group(0, group, &[]);
                            pass::dispatch(&mut pass, boxes.div_ceil(512));
                            sorting += 1;
                        }
                    }
                }
                stage(
                    &mut scope,
                    "hierarchy",
                    hierarchy,
                    hierarchy_group,
                    per_item,
                );
            }
            (
                Builder::Serial {
                    grow_leaves,
                    grow_meshes,
                    grow_nodes,
                },
                BuilderGroups::Serial {
                    leaves,
                    meshes,
                    nodes,
                    lists,
                    ..
                },
            ) => {
                let (mut runs, triangle_runs) = runs(chosen.item_triangles, tree.mesh_count);
                {
                    let mut pass = scope.scoped_compute_pass("grow");
                    for (pipeline, group, runs) in [
                        (grow_leaves, leaves, triangle_runs),
                        (grow_meshes, meshes, runs - triangle_runs),
                    ] {
                        pass.set_pipeline(pipeline);
                        pass.set_bind_group(0, group, &[]);
                        pass::dispatch(&mut pass, runs.div_ceil(8));
                        sorting += 1;
                    }
                }
                for (step, (group, _)) in nodes.iter().enumerate() {
                    if runs < 2 {
                        break;
                    }
                    let (segments, counts) = &lists[step % 2];
                    segments.publish(&mut scope, 3 * GROW_SEGMENTS * runs);
                    counts.publish(&mut scope, runs);
                    runs = runs.div_ceil(GROW_FAN);
                    stage(&mut scope, "grow", grow_nodes, group, runs.div_ceil(8));
                }
            }
            // Groups were made for the builder that this device has.
            _ => {}
        }
        tree.dispatches.set(dispatches + sorting);
        publish(&mut scope, &[&tree.triangles, &tree.nodes]);
    }
}

impl Tree {
    /// From now on builds only the trees of those meshes (and the TLAS), or of all again. The others stay as they were built last. Cheap where
    /// nothing changes.
    pub fn build_only(&self, gpu: &Gpu, meshes: Option<&[bool]>) {
        let meshes = meshes.unwrap_or_default();
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
        if let BuilderGroups::Serial {
            runs: buffer,
            nodes,
            ..
        } = &self.groups.builder
        {
            let (mut all, of_triangles) = runs(chosen.item_triangles, self.mesh_count);
            gpu.queue
                .write_buffer(buffer, 0, bytemuck::bytes_of(&[all, of_triangles]));
            for (_, buffer) in nodes {
                gpu.queue.write_buffer(buffer, 0, bytemuck::bytes_of(&all));
                all = all.div_ceil(GROW_FAN);
            }
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

/// Runs of `grow` over triangles and meshes: all, and those over triangles.
fn runs(triangles: u32, meshes: u32) -> (u32, u32) {
    let of_triangles = triangles.div_ceil(GROW_RUN);
    (of_triangles + meshes.div_ceil(GROW_RUN), of_triangles)
}

/// First box of each level over `leaves` leaves, of which level 0 is the leaves themselves, and the number of boxes on the others.
pub fn pyramid_levels(leaves: u32) -> ([[u32; 4]; 7], u32) {
    let mut offsets = [[0; 4]; 7];
    let mut total = 0;
    for level in 1..28 {
        offsets[level / 4][level % 4] = total;
        // The level of one box ends the pyramid; those above it are never read.
        if leaves.div_ceil(1 << (level - 1)) > 1 {
            total += leaves.div_ceil(1 << level);
        }
    }
    (offsets, total)
}
