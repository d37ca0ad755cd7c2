//! The trees of a scene: their buffers, what of them is built next, and how they are bound and read back.

use super::{
    geometry::GeometryArrays,
    hierarchy,
    implementation::NodeStages,
    layout::{
        BOUNDS_THREADS, BOUNDS_WORDS, BuildParams, CODE_WORDS, LeafTriangle, MeshRange, Node, Objects, Span,
        TlasEntry, TreeInfo,
    },
    pairs::{Digits, SortBuffers},
    ploc::PlocStages,
    shaders,
    stages::{Bound, Stages},
};
use crate::{
    Result,
    gpu::{
        Array, Arrays, Bind, Gpu, bind_group,
        pass::{self, Binding},
    },
};
use std::ops::Range;

/// A scene's trees, and what is needed to build them again.
#[derive(Debug)]
pub struct Tree {
    /// A [`TlasEntry`] per mesh.
    pub tlas: wgpu::Buffer,
    /// Four rows a [`Node`], with room for one per triangle and then per mesh: those of a mesh begin at its
    /// first triangle and those of the TLAS behind the last triangle. Where no node lies, there may be one of
    /// an earlier build.
    pub nodes: Array,
    /// Three rows a [`LeafTriangle`], in leaf order, and then the meshes in theirs.
    pub triangles: Array,
    pub(super) info: wgpu::Buffer,
    pub(super) triangle_count: u32,
    pub(super) objects: Objects,
    pub(super) leaf_cutoff: u32,
    pub(super) quality: Quality,
    /// Of the last build.
    pub(super) built_quality: Quality,
    pub(super) meshes: Vec<MeshRange>,
    pub(super) mesh_bounds: wgpu::Buffer,
    /// The records of `morton`, if there are any.
    pub(super) codes: Array,
    /// What the kernels that make nodes share: see `bvh/sorted.wgsl`.
    pub(super) scratch: wgpu::Buffer,
    pub(super) geometry: GeometryArrays,
    pub(super) pairs: SortBuffers,
    pub(super) params: wgpu::Buffer,
    /// What `params` holds when all items are built.
    pub(super) params_all: BuildParams,
    pub(super) items: wgpu::Buffer,
    pub(super) sorts: Vec<Sort>,
    pub(super) selection: Selection,
    /// Whose order the last sort made: as [`Selection::meshes`]. `None` before the first one.
    pub(super) sorted: Option<Vec<bool>>,
    pub(super) dispatches: u32,
    pub(super) passes: u32,
    pub(super) stages: TreeStages,
}

/// How good trees are, and what they cost to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Quality {
    /// Radix trees over Morton codes (Karras 2012).
    #[default]
    Fast,
    /// Of neighbours in Morton order those are joined whose common box is smallest (Meister and Bittner
    /// 2018): rays visit fewer nodes. Builds move more bytes, and need 56 bytes of memory more a triangle.
    High,
}

impl Quality {
    /// The name in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::High => "high",
        }
    }
}

/// The items of the next builds.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// Whether each mesh is built; empty for all.
    pub(super) meshes: Vec<bool>,
    pub(super) item_count: u32,
    pub(super) item_triangles: u32,
}

/// One sort of a build.
#[derive(Debug)]
pub(super) struct Sort {
    /// What makes its keys from the order of the sort before, with its bind group.
    pub(super) regroup: Option<(Regroup, Bound)>,
    pub(super) digits: Digits,
}

/// The bits that the keys of a further sort hold.
#[derive(Debug, Clone, Copy)]
pub(super) enum Regroup {
    /// The upper word of wide codes, and the mesh's lowest bit.
    Code,
    /// The mesh's bits that had no room in keys of 30-bit codes.
    MeshAfterShortCode,
    /// The mesh's bits that had no room in keys of wide codes.
    MeshAfterWideCode,
}

/// The bind groups of a tree's stages.
#[derive(Debug)]
pub(super) struct TreeStages {
    pub(super) bounds: Bound,
    pub(super) tlas: Bound,
    pub(super) morton: Bound,
    pub(super) nodes: NodeStages,
    /// If the trees may be of [`Quality::High`].
    pub(super) ploc: Option<PlocStages>,
}

/// Trees as they are in GPU memory.
#[derive(Debug, Clone)]
pub struct TreeData {
    /// Triangles up to which a range of them has no node.
    pub leaf_cutoff: u32,
    /// One per mesh.
    pub tlas: Vec<TlasEntry>,
    /// One per triangle, then one per mesh for the TLAS: see [`Tree::nodes`].
    pub nodes: Vec<Node>,
    /// Area of the box of each node; negative where no node lies.
    pub node_areas: Vec<f32>,
    /// In leaf order, then the meshes, as `bvh/leaf.wgsl` writes them.
    pub triangles: Vec<LeafTriangle>,
}

impl TreeData {
    /// The leaf behind the left child of a binary node of the leaves from `first` to before `end`: that of
    /// the largest of the ranges which begin where the node does and are nodes themselves. A left child has
    /// the number of its last leaf. Of trees that were built with a leaf cutoff of 1.
    pub fn middle(&self, number: u32, first: u32, end: u32) -> u32 {
        let ends = self.nodes[number as usize].ends;
        let is_left = |middle: &u32| {
            let left = &self.nodes[*middle as usize - 1];
            *middle < end && left.first == first && left.ends[3] == *middle
        };
        ends.into_iter().rev().find(is_left).unwrap_or(ends[0])
    }
}

impl Tree {
    /// From now on builds only the trees of those meshes (and the TLAS), or of all again with `None`. The
    /// others stay as they were built last. Cheap where nothing changes. It takes effect through the queue:
    /// what has been recorded has to be submitted before.
    pub fn build_only(&mut self, gpu: &Gpu, meshes: Option<&[bool]>) {
        let meshes = meshes.unwrap_or_default();
        let meshes = &meshes[..meshes.len().min(self.meshes.len())];
        if self.selection.item_count > 0 && self.selection.meshes == meshes {
            return;
        }
        let mut item_triangles = self.triangle_count;
        if !meshes.is_empty() {
            let mut items = Vec::new();
            for (range, _) in self.meshes.iter().zip(meshes).filter(|(_, built)| **built) {
                items.extend(range.first_triangle..range.first_triangle + range.triangle_count);
            }
            item_triangles = items.len() as u32;
            items.extend(self.triangle_count..self.triangle_count + self.mesh_count());
            gpu.queue
                .write_buffer(&self.items, 0, bytemuck::cast_slice(&items));
        }
        let item_count = item_triangles + self.mesh_count();
        let spans = self.spans(meshes);
        let spans_byte = 4 * u64::from(self.params_all.spans_word);
        gpu.queue
            .write_buffer(&self.scratch, spans_byte, bytemuck::cast_slice(&spans));
        self.params_all.leaf_cutoff = self.leaf_cutoff;
        let params = BuildParams {
            item_count,
            item_triangles,
            all_items: u32::from(meshes.is_empty()),
            bounds_run: bounds_run(gpu, item_triangles),
            bounds_step: self.bounds_step(gpu, item_triangles, meshes),
            ..self.params_all
        };
        gpu.queue
            .write_buffer(&self.params, 0, bytemuck::bytes_of(&params));
        for sort in &mut self.sorts {
            sort.digits.set_count(gpu, item_count);
        }
        let mesh_count = self.mesh_count();
        self.stages.nodes.set_counts(gpu, item_triangles, mesh_count);
        if let Some(ploc) = &self.stages.ploc {
            ploc.set_count(gpu, item_count);
        }
        self.selection = Selection {
            meshes: meshes.to_vec(),
            item_count,
            item_triangles,
        };
    }

    /// How far apart the triangles of a thread of `bounds` are, where only some `meshes` are built, or all if
    /// there are none.
    fn bounds_step(&self, gpu: &Gpu, triangles: u32, meshes: &[bool]) -> u32 {
        let built = match meshes {
            [] => self.meshes.len(),
            meshes => meshes.iter().filter(|built| **built).count(),
        };
        let per_workgroup = u64::from(BOUNDS_THREADS * bounds_run(gpu, triangles));
        // Textures gain nothing by threads that read side by side.
        let is_small = u64::from(triangles) < built as u64 * per_workgroup;
        if is_small || gpu.capabilities.arrays == Arrays::Textures {
            1
        } else {
            BOUNDS_THREADS
        }
    }

    /// A span per mesh and for the TLAS, where only some `meshes` are built, or all if there are none.
    fn spans(&self, meshes: &[bool]) -> Vec<Span> {
        let mut first = 0;
        let of_meshes = self.meshes.iter().enumerate().map(|(mesh, range)| {
            let is_built = meshes.get(mesh).copied().unwrap_or(meshes.is_empty());
            let count = if is_built { range.triangle_count } else { 0 };
            let span = Span {
                first,
                count,
                shift: range.first_triangle - first,
            };
            first += count;
            span
        });
        let mut spans: Vec<_> = of_meshes.collect();
        spans.push(Span {
            first,
            count: self.mesh_count(),
            shift: self.triangle_count - first,
        });
        spans
    }

    /// The quality of the next builds.
    pub fn quality(&self) -> Quality {
        self.quality
    }

    /// From the next build on, makes trees of that quality, at most of that of the builder that made this
    /// tree ([`Lbvh::with_quality`](super::Lbvh::with_quality)). Trees that the next build leaves out stay as
    /// they are.
    pub fn set_quality(&mut self, quality: Quality) {
        self.quality = match self.stages.ploc {
            Some(_) => quality,
            None => Quality::Fast,
        };
    }

    /// Triangles up to which a range of them gets no node, which spares the build most nodes: 1 until
    /// [`Tree::set_leaf_cutoff`].
    pub fn leaf_cutoff(&self) -> u32 {
        self.leaf_cutoff
    }

    /// From the next build on, ranges of so many triangles or fewer get no node: rays test them as a whole,
    /// as they do with a cutoff of their own. Where this lowers the number, the next build has to be one of
    /// all meshes, before any ray. It takes effect through the queue, as [`Tree::build_only`].
    pub fn set_leaf_cutoff(&mut self, gpu: &Gpu, leaf_cutoff: u32) {
        let leaf_cutoff = leaf_cutoff.max(1);
        if self.leaf_cutoff != leaf_cutoff {
            self.leaf_cutoff = leaf_cutoff;
            let info = TreeInfo {
                triangle_count: self.triangle_count,
                mesh_count: self.mesh_count(),
                leaf_cutoff,
            };
            gpu.queue.write_buffer(&self.info, 0, bytemuck::bytes_of(&info));
            let selection = std::mem::take(&mut self.selection);
            let meshes = Some(&selection.meshes[..]).filter(|meshes| !meshes.is_empty());
            self.build_only(gpu, meshes);
        }
    }

    /// 1 where keys do not hold the whole code and mesh, so that records stand beside them; otherwise 0.
    pub(super) fn records(&self) -> usize {
        usize::from(self.sorts.len() > 1)
    }

    /// Lets shaders read the records of the items of `range`, if there are records.
    pub(super) fn publish_records(&self, stages: &mut Stages<'_, '_>, range: Range<u32>) {
        if self.records() == 1 {
            let words = CODE_WORDS * range.start..CODE_WORDS * range.end;
            stages.publish(&self.codes, words);
        }
    }

    pub(super) fn clear_bounds(&self, encoder: &mut wgpu::CommandEncoder) {
        let bytes = u64::from(BOUNDS_WORDS) * 4;
        if self.selection.meshes.is_empty() {
            encoder.clear_buffer(&self.mesh_bounds, 0, None);
            return;
        }
        // One command for each run of neighbours. The scene's box only grows until all is built again: it is
        // but the TLAS's grid.
        let mut first = 0;
        for run in self.selection.meshes.chunk_by(|a, b| a == b) {
            let count = run.len() as u64;
            if run[0] {
                encoder.clear_buffer(&self.mesh_bounds, first * bytes, Some(count * bytes));
            }
            first += count;
        }
    }

    /// What the trees are built over.
    pub fn objects(&self) -> Objects {
        self.objects
    }

    /// Triangles, or other objects, in all trees.
    pub fn triangle_count(&self) -> u32 {
        self.triangle_count
    }

    /// Meshes, each with a tree.
    pub fn mesh_count(&self) -> u32 {
        self.meshes.len() as u32
    }

    /// Dispatches of the last build that was recorded. They depend on the adapter, on the quality, on whether
    /// the scene is tiny or huge, on the bits of the codes and of the number of meshes: never on the single
    /// meshes.
    pub fn dispatches(&self) -> u32 {
        self.dispatches
    }

    /// Sorts of a build: one where a key holds both the code and the number of the mesh.
    pub fn sort_count(&self) -> usize {
        self.sorts.len()
    }

    /// Compute passes of the last build that was recorded: a single one, unless it is timed, or arrays are
    /// copied to where shaders read them.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Binary nodes of the last build that reach beyond a block of `bvh/build/hierarchy.wgsl`, waiting for it;
    /// `None` where other kernels made the nodes. Before [`Tree::build_only`] chooses others.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn nodes_across_blocks(&self, gpu: &Gpu) -> Result<Option<u32>> {
        let params = &self.params_all;
        if params.across_word == 0 || self.built_quality == Quality::High {
            return Ok(None);
        }
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&gpu.read(&self.scratch)?);
        let blocks = hierarchy::block_count(&gpu.limits, self.selection.item_count) as usize;
        let first = params.across_word as usize;
        Ok(Some(words[first..first + blocks].iter().sum()))
    }

    /// The positions that the trees are built over.
    pub fn positions(&self) -> &wgpu::Buffer {
        self.geometry.positions.buffer()
    }

    /// What was sorted to each position: the position that it had among the items.
    pub fn order(&self) -> &Array {
        &self.pairs.values[self.sorted_side()]
    }

    /// Reads back the Morton codes of the last build's items as they are sorted, the high word first, waiting
    /// for them; before [`Tree::build_only`] chooses others.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn sorted_codes(&self, gpu: &Gpu) -> Result<Vec<u64>> {
        let count = self.selection.item_count as usize;
        if self.records() == 0 {
            let mask = (1u64 << (3 * self.params_all.axis_bits)) - 1;
            let keys: Vec<u32> = self.pairs.keys[self.sorted_side()].read(gpu)?;
            let code = |key: &u32| (u64::from(*key) & mask) << 32;
            return Ok(keys[..count].iter().map(code).collect());
        }
        let records: Vec<[u32; CODE_WORDS as usize]> = self.codes.read(gpu)?;
        let order: Vec<u32> = self.order().read(gpu)?;
        let code = |item: &u32| {
            let [high, low, ..] = records[*item as usize];
            u64::from(high) << 32 | u64::from(low)
        };
        Ok(order[..count].iter().map(code).collect())
    }

    /// Which of the two arrays of pairs holds what was sorted.
    pub(super) fn sorted_side(&self) -> usize {
        self.sorts.last().map_or(0, |sort| sort.digits.output())
    }

    /// The bounds of each mesh's centroids and its box, then the scene's box: twelve, twelve, … and six `u32`
    /// as `bvh/build/bounds.wgsl` encodes them.
    pub fn mesh_bounds(&self) -> &wgpu::Buffer {
        &self.mesh_bounds
    }

    /// What `bvh/bvh.wgsl` binds, group 1: sizes, nodes, triangles. Further bindings may follow.
    pub const BINDINGS: [Binding; 3] = [Binding::Uniform, Binding::ReadArray(4), Binding::ReadArray(4)];

    /// The bind group layout of [`Tree::BINDINGS`].
    pub fn layout(gpu: &Gpu, visibility: wgpu::ShaderStages) -> wgpu::BindGroupLayout {
        let bindings = Self::BINDINGS.map(|binding| (visibility, binding));
        pass::layout(gpu, "tree", &bindings)
    }

    /// What stands at [`Tree::BINDINGS`].
    pub fn bindings(&self) -> [&dyn Bind; 3] {
        [&self.info, &self.nodes, &self.triangles]
    }

    /// The bind group for [`Tree::layout`].
    pub fn bind_group(&self, gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> wgpu::BindGroup {
        bind_group(gpu, "tree", layout, &self.bindings())
    }

    /// Queries of this tree in plain WGSL, for a module of the caller's that binds it ([`Tree::bind_group`])
    /// at `group`: to be put in front of the module's own text. All its global names begin with `bvh_`, `Bvh`
    /// or `BVH_`.
    ///
    /// * `bvh_closest_hit(ray: BvhRay, leaf_cutoff: u32) -> BvhHit` and `bvh_any_hit(ray, leaf_cutoff) ->
    ///   bool`; `bvh_accepts`, the any-hit test, is `accepts`, or accepts everything where that is `None`;
    /// * `bvh_nearest(point, reach, leaf_cutoff) -> BvhNearest`;
    /// * `bvh_region_box(lower, upper)`, `bvh_region_ball(centre, radius)`, `bvh_region_capsule(a, b,
    ///   radius)`, `bvh_region_frustum(planes)`, then `var walk = bvh_overlap_begin(region, leaf_cutoff)` and
    ///   `bvh_overlap_next(&walk, region)` until that is `BVH_MISS`; `bvh_walk_name(&walk, leaf)` is mesh and
    ///   number, and `bvh_tree_triangle(leaf)` the object; or, as fast as canopy's own,
    ///   `bvh_overlap_advance(&walk, region)`, then `bvh_walk_leaf(&walk)` until `bvh_walk_is_done(&walk)`,
    ///   each tested by `bvh_region_touches`;
    /// * `bvh_sweep(sweep: BvhSweep, leaf_cutoff) -> BvhContact`, or `bvh_sweep_advance` and
    ///   `bvh_sweep_leaf` to choose among contacts;
    /// * `bvh_crossing_next(&walk, bvh_crossing_ray(ray))`, or `bvh_crossing_advance` and `bvh_crossing`,
    ///   after `bvh_walk_begin(leaf_cutoff)`: all triangles along a ray.
    ///
    /// It fits trees over the same objects ([`Tree::objects`]) on the same device.
    ///
    /// # Errors
    ///
    /// [`Error::Shader`](crate::Error::Shader) for a broken import line in `accepts`.
    pub fn wgsl(&self, gpu: &Gpu, group: u32, accepts: Option<&str>) -> Result<String> {
        const ALL: &str =
            "fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool { return true; }";
        shaders::queries(gpu, self.objects, group, accepts.unwrap_or(ALL))
    }

    /// Reads the trees back, waiting for them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn read(&self, gpu: &Gpu) -> Result<TreeData> {
        let bytes = self.meshes.len() * size_of::<TlasEntry>();
        let areas = 4 * (self.triangle_count + self.mesh_count()) as usize;
        Ok(TreeData {
            leaf_cutoff: self.leaf_cutoff,
            tlas: bytemuck::pod_collect_to_vec(&gpu.read(&self.tlas)?[..bytes]),
            nodes: self.nodes.read(gpu)?,
            node_areas: bytemuck::pod_collect_to_vec(&gpu.read(&self.scratch)?[..areas]),
            triangles: self.triangles.read(gpu)?,
        })
    }
}

/// Threads of `bounds` that fill a large GPU; with fewer triangles than that, a thread takes one.
const BOUNDS_FILL: u32 = 1 << 16;
/// Triangles that a thread of `bounds` takes at the most.
const BOUNDS_RUN_MOST: u32 = 16;

/// Triangles per thread of `bounds`.
pub(super) fn bounds_run(gpu: &Gpu, triangles: u32) -> u32 {
    if gpu.capabilities.arrays == Arrays::Textures {
        return BOUNDS_RUN_MOST;
    }
    triangles.div_ceil(BOUNDS_FILL).clamp(1, BOUNDS_RUN_MOST)
}

/// Workgroups of `bounds`.
pub(super) fn bounds_workgroups(gpu: &Gpu, triangles: u32) -> u32 {
    triangles.div_ceil(BOUNDS_THREADS * bounds_run(gpu, triangles))
}
