//! BVHs of a scene: their buffers, the selection for the next build, bind groups and readback.

use super::{
    geometry::GeometryArrays,
    hierarchy,
    implementation::NodeStages,
    layout::{
        BOUNDS_THREADS, BOUNDS_WORDS, BuildParams, CODE_WORDS, LeafTriangle, MeshRange, Node, Objects,
        RAY_LEAVES_MAX, Span, TlasEntry, TreeInfo,
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
use std::{
    ops::Range,
    sync::{OnceLock, atomic::AtomicU32},
};

/// Trees of a scene, with the data for rebuilding them.
#[derive(Debug)]
pub struct Tree {
    /// One [`TlasEntry`] per mesh.
    pub tlas: wgpu::Buffer,
    /// Four rows per [`Node`]. There is room for one node per triangle, then one per mesh. The nodes of a
    /// mesh begin at the index of its first triangle. The nodes of the TLAS begin after the last triangle.
    /// Unused slots may hold nodes of an earlier build.
    pub nodes: Array,
    /// Three rows per [`LeafTriangle`], in leaf order, followed by the leaves of the TLAS.
    pub triangles: Array,
    pub(super) ray_nodes: TreeRayNodes,
    pub(super) info: wgpu::Buffer,
    pub(super) triangle_count: u32,
    pub(super) objects: Objects,
    pub(super) leaf_cutoff: u32,
    pub(super) quality: Quality,
    /// Quality of the last build.
    pub(super) built_quality: Quality,
    pub(super) meshes: Vec<MeshRange>,
    pub(super) mesh_bounds: wgpu::Buffer,
    /// Code records of `morton`, if the keys have no room for the code and the mesh index.
    pub(super) codes: Array,
    /// Scratch buffer shared by the kernels that make nodes: see `bvh/sorted.wgsl`.
    pub(super) scratch: wgpu::Buffer,
    pub(super) geometry: GeometryArrays,
    pub(super) pairs: SortBuffers,
    pub(super) params: wgpu::Buffer,
    /// Contents of `params` for a build of all items.
    pub(super) params_all: BuildParams,
    pub(super) items: wgpu::Buffer,
    pub(super) sorts: Vec<Sort>,
    pub(super) selection: Selection,
    /// Selection of the last sort, in the form of [`Selection::meshes`]. `None` before the first sort.
    pub(super) sorted: Option<Vec<bool>>,
    pub(super) dispatches: u32,
    pub(super) passes: u32,
    pub(super) stages: TreeStages,
}

/// Nodes for rays on GPUs: see [`RayNodes`](super::RayNodes).
#[derive(Debug, Default)]
pub(super) struct TreeRayNodes {
    /// Rows of each node, at the index of that node in [`Tree::nodes`]. Created for the first ray, because
    /// other queries do not need them.
    pub(super) nodes: OnceLock<Array>,
    /// Leaf cutoff of the nodes, or 0 before the first recording.
    pub(super) leaf_cutoff: AtomicU32,
    /// Nodes that builds have changed since: `NONE`, `SELECTED` or `ALL` of `ray_nodes.rs`.
    pub(super) stale: AtomicU32,
}

/// Quality of a tree, and its build cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Quality {
    /// Radix trees over Morton codes (Karras 2012).
    #[default]
    Fast,
    /// PLOC: merges the neighbours in Morton order with the smallest merged bounds (Meister and Bittner
    /// 2018). Rays visit fewer nodes, but builds move more data and need 56 bytes more memory per triangle.
    High,
}

impl Quality {
    /// Returns the name used in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::High => "high",
        }
    }
}

/// Items of the next builds.
#[derive(Debug, Default)]
pub(super) struct Selection {
    /// True for each mesh that is built. Empty if all are.
    pub(super) meshes: Vec<bool>,
    pub(super) item_count: u32,
    pub(super) item_triangles: u32,
}

/// One sort of a build.
#[derive(Debug)]
pub(super) struct Sort {
    /// Kernel that makes the keys from the order of the previous sort, with its bind group.
    pub(super) regroup: Option<(Regroup, Bound)>,
    pub(super) digits: Digits,
}

/// Bits that a further sort uses as its key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Regroup {
    /// High word of wide codes, and the mesh's lowest bit.
    Code,
    /// Bits of the mesh index that keys of 30-bit codes have no room for.
    MeshAfterShortCode,
    /// Bits of the mesh index that keys of wide codes have no room for.
    MeshAfterWideCode,
}

/// Bind groups of a tree's build stages.
#[derive(Debug)]
pub(super) struct TreeStages {
    pub(super) bounds: Bound,
    pub(super) tlas: Bound,
    pub(super) morton: Bound,
    pub(super) nodes: NodeStages,
    /// Present if the trees may have [`Quality::High`].
    pub(super) ploc: Option<PlocStages>,
}

/// Trees after readback.
#[derive(Debug, Clone)]
pub struct TreeData {
    /// Maximum number of triangles in a range that has no node.
    pub leaf_cutoff: u32,
    /// One row per mesh.
    pub tlas: Vec<TlasEntry>,
    /// One node per triangle, then one per mesh for the TLAS: see [`Tree::nodes`].
    pub nodes: Vec<Node>,
    /// Surface area of each node's box, negative for an unused slot.
    pub node_areas: Vec<f32>,
    /// Leaves in leaf order, then the meshes in the format of `bvh/leaf.wgsl`.
    pub triangles: Vec<LeafTriangle>,
}

impl TreeData {
    /// Returns the first leaf of the right child of a binary node over the leaves `first..end`. The left
    /// child is the largest range that begins at `first` and is itself a node. It has the index of its last
    /// leaf. Only for trees built with a leaf cutoff of 1.
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
    /// Restricts the next builds to the trees of these meshes (and the TLAS), or to all meshes with `None`.
    /// Other trees keep the state of their last build. The call is cheap if nothing changes. It writes
    /// through the queue, so submit earlier recordings first.
    pub fn build_only(&mut self, gpu: &Gpu, meshes: Option<&[bool]>) {
        let meshes = meshes.unwrap_or_default();
        let meshes = &meshes[..meshes.len().min(self.meshes.len())];
        if self.selection.item_count > 0 && self.selection.meshes == meshes {
            return;
        }
        self.leave_ray_node_selection();
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

    /// Returns the stride between the triangles of a thread of `bounds`. `meshes` is the selection, empty for
    /// all.
    fn bounds_step(&self, gpu: &Gpu, triangles: u32, meshes: &[bool]) -> u32 {
        let built = match meshes {
            [] => self.meshes.len(),
            meshes => meshes.iter().filter(|built| **built).count(),
        };
        let per_workgroup = u64::from(BOUNDS_THREADS * bounds_run(gpu, triangles));
        // Coalesced reads do not speed up texture storage.
        let is_small = u64::from(triangles) < built as u64 * per_workgroup;
        if is_small || gpu.capabilities.arrays == Arrays::Textures {
            1
        } else {
            BOUNDS_THREADS
        }
    }

    /// Returns a span per mesh and one for the TLAS. `meshes` is the selection, empty for all.
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

    /// Returns the quality of the next builds.
    pub fn quality(&self) -> Quality {
        self.quality
    }

    /// Sets the quality from the next build on. It cannot exceed the quality of the builder that made this
    /// tree ([`Lbvh::with_quality`](super::Lbvh::with_quality)). Trees that the next build leaves out do not
    /// change.
    pub fn set_quality(&mut self, quality: Quality) {
        self.quality = match self.stages.ploc {
            Some(_) => quality,
            None => Quality::Fast,
        };
    }

    /// Returns the maximum number of triangles in a range without a node. It is 1 until you call
    /// [`Tree::set_leaf_cutoff`]. A higher cutoff spares the build most nodes.
    pub fn leaf_cutoff(&self) -> u32 {
        self.leaf_cutoff
    }

    /// Sets the maximum number of triangles in a range without a node, 1 to 32, from the next build on. Rays
    /// test every triangle of such a range, as they do in ranges within their own cutoff. If this lowers the
    /// number, the next build must include all meshes and precede any ray. Like [`Tree::build_only`], it
    /// writes through the queue.
    pub fn set_leaf_cutoff(&mut self, gpu: &Gpu, leaf_cutoff: u32) {
        let leaf_cutoff = leaf_cutoff.clamp(1, RAY_LEAVES_MAX);
        if self.leaf_cutoff != leaf_cutoff {
            self.leaf_cutoff = leaf_cutoff;
            self.invalidate_ray_nodes();
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

    /// Returns 1 if code records exist because keys have no room for the code and the mesh index, otherwise
    /// 0.
    pub(super) fn records(&self) -> usize {
        usize::from(self.sorts.len() > 1)
    }

    /// Makes the code records of the items in `range` readable by shaders, if there are records.
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
        // One clear command per run of neighbouring meshes. In a partial build, the scene's box can only
        // grow. It only defines the grid of the TLAS.
        let mut first = 0;
        for run in self.selection.meshes.chunk_by(|a, b| a == b) {
            let count = run.len() as u64;
            if run[0] {
                encoder.clear_buffer(&self.mesh_bounds, first * bytes, Some(count * bytes));
            }
            first += count;
        }
    }

    /// Returns the kind of object that the trees are built over.
    pub fn objects(&self) -> Objects {
        self.objects
    }

    /// Returns the number of triangles, or of other objects, in all trees.
    pub fn triangle_count(&self) -> u32 {
        self.triangle_count
    }

    /// Returns the number of meshes. Each has its own tree.
    pub fn mesh_count(&self) -> u32 {
        self.meshes.len() as u32
    }

    /// Returns the number of dispatches in the last recorded build. It depends on the adapter, the quality,
    /// whether the scene is tiny or huge, and the bits of the codes and of the mesh count, but never on
    /// individual meshes.
    pub fn dispatches(&self) -> u32 {
        self.dispatches
    }

    /// Returns the number of sorts in a build. It is 1 if a key holds both the code and the mesh index.
    pub fn sort_count(&self) -> usize {
        self.sorts.len()
    }

    /// Returns the number of compute passes in the last recorded build. It is 1 unless the build is timed or
    /// arrays are copied to textures for shaders to read.
    pub fn passes(&self) -> u32 {
        self.passes
    }

    /// Reads the number of binary nodes in the last build that extend beyond a block of
    /// `bvh/build/hierarchy.wgsl`, and waits for it. `None` if other kernels made the nodes. Call it before
    /// [`Tree::build_only`] changes the selection.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) if the device is lost.
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

    /// Returns the positions that the trees are built over.
    pub fn positions(&self) -> &wgpu::Buffer {
        self.geometry.positions.buffer()
    }

    /// Returns the sorted order: for each position, the index of the item among the items before the sort.
    pub fn order(&self) -> &Array {
        &self.pairs.values[self.sorted_side()]
    }

    /// Reads back the Morton codes of the last build in sorted order, high word first, and waits for them.
    /// Call it before [`Tree::build_only`] changes the selection.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) if the device is lost.
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

    /// Returns the index of the pair array that holds the sorted result.
    pub(super) fn sorted_side(&self) -> usize {
        self.sorts.last().map_or(0, |sort| sort.digits.output())
    }

    /// Returns, for each mesh, the bounds of its centroids and its box, followed by the scene's box. That is
    /// 12 `u32` per mesh and 6 for the scene, in the encoding of `bvh/build/bounds.wgsl`.
    pub fn mesh_bounds(&self) -> &wgpu::Buffer {
        &self.mesh_bounds
    }

    /// Bindings of bind group 1 in `bvh/bvh.wgsl`: sizes, nodes, triangles. You may append bindings of your
    /// own.
    pub const BINDINGS: [Binding; 3] = [Binding::Uniform, Binding::ReadArray(4), Binding::ReadArray(4)];

    /// Returns the bind group layout of [`Tree::BINDINGS`].
    pub fn layout(gpu: &Gpu, visibility: wgpu::ShaderStages) -> wgpu::BindGroupLayout {
        let bindings = Self::BINDINGS.map(|binding| (visibility, binding));
        pass::layout(gpu, "tree", &bindings)
    }

    /// Returns the resources for [`Tree::BINDINGS`].
    pub fn bindings(&self) -> [&dyn Bind; 3] {
        [&self.info, &self.nodes, &self.triangles]
    }

    /// Creates the bind group for [`Tree::layout`].
    pub fn bind_group(&self, gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> wgpu::BindGroup {
        bind_group(gpu, "tree", layout, &self.bindings())
    }

    /// Returns this tree's queries in plain WGSL, to be put in front of the source of your own module. The
    /// module binds the tree ([`Tree::bind_group`]) at `group`. All global names begin with `bvh_`, `Bvh` or
    /// `BVH_`.
    ///
    /// * `bvh_closest_hit(ray: BvhRay, leaf_cutoff: u32) -> BvhHit` and `bvh_any_hit(ray, leaf_cutoff) ->
    ///   bool`. The any-hit test `bvh_accepts` is defined by `accepts`. With `None`, it accepts every hit.
    /// * `bvh_nearest(point, reach, leaf_cutoff) -> BvhNearest`.
    /// * Overlaps: create a region with `bvh_region_box(lower, upper)`, `bvh_region_ball(centre, radius)`,
    ///   `bvh_region_capsule(a, b, radius)` or `bvh_region_frustum(planes)`. Then call `var walk =
    ///   bvh_overlap_begin(region, leaf_cutoff)`, and `bvh_overlap_next(&walk, region)` until it returns
    ///   `BVH_MISS`. `bvh_walk_name(&walk, leaf)` returns the mesh and the index within it,
    ///   `bvh_tree_triangle(leaf)` the object. To match the speed of canopy's own kernels, call
    ///   `bvh_overlap_advance(&walk, region)`, then `bvh_walk_leaf(&walk)` until `bvh_walk_is_done(&walk)`,
    ///   and test each leaf with `bvh_region_touches`.
    /// * `bvh_sweep(sweep: BvhSweep, leaf_cutoff) -> BvhContact`. To choose among contacts, use
    ///   `bvh_sweep_advance` and `bvh_sweep_leaf`.
    /// * All triangles along a ray: call `bvh_walk_begin(leaf_cutoff)`, then `bvh_crossing_next(&walk,
    ///   bvh_crossing_ray(ray))`, or `bvh_crossing_advance` and `bvh_crossing`.
    ///
    /// The source works with trees over the same kind of object ([`Tree::objects`]) on the same device.
    ///
    /// # Errors
    ///
    /// [`Error::Shader`](crate::Error::Shader) for a broken import line in `accepts`.
    pub fn wgsl(&self, gpu: &Gpu, group: u32, accepts: Option<&str>) -> Result<String> {
        const ALL: &str =
            "fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool { return true; }";
        shaders::queries(gpu, self.objects, group, accepts.unwrap_or(ALL))
    }

    /// Reads the trees back and waits for them.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`](crate::Error::Gpu) if the device is lost.
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

/// Number of `bounds` threads that fill a large GPU. With fewer triangles, a thread takes only one.
const BOUNDS_FILL: u32 = 1 << 16;
/// Maximum number of triangles per thread of `bounds`.
const BOUNDS_RUN_MAX: u32 = 16;

/// Returns the number of triangles per thread of `bounds`.
pub(super) fn bounds_run(gpu: &Gpu, triangles: u32) -> u32 {
    if gpu.capabilities.arrays == Arrays::Textures {
        return BOUNDS_RUN_MAX;
    }
    triangles.div_ceil(BOUNDS_FILL).clamp(1, BOUNDS_RUN_MAX)
}

/// Returns the number of workgroups of `bounds`.
pub(super) fn bounds_workgroups(gpu: &Gpu, triangles: u32) -> u32 {
    triangles.div_ceil(BOUNDS_THREADS * bounds_run(gpu, triangles))
}
