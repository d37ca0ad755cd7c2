//! `pairs_descend`: finds the pairs of boxes and balls whose bounding boxes touch, by descending two BVHs at
//! once. Software adapters run eight threads in lockstep. Pairs of one level are work items of equal size,
//! unlike traversals from single leaves.

use crate::{
    Result,
    accel::{
        counted::Counts,
        layout::{DESCENT_CAPACITY, DescentQuery, PAIR_LEVELS, TRACE_BLOCK},
        search::{QueryKernel, Search},
        tree::Tree,
    },
    gpu::{
        Bind, Cooperation, Gpu, PipelineSet, Recorder,
        pass::Binding::{ReadArray, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Number of nodes and leaves that an index can address.
const LEAVES_NAMED: u64 = 1 << 30;
/// Number of top levels that only the first workgroup descends, for trees of at least SHARED_FROM leaves.
/// They leave a few thousand pairs for the other workgroups.
const TOP_LEVELS: u32 = 4;
const SHARED_FROM: u32 = 2048;
/// Number of workgroups that share the lower levels.
const GROUPS: u32 = 64;
/// Capacity of the shared lists, in pairs per leaf and level. Boxes that fill space have 0.9.
const PAIRS: u32 = 2;
/// Stride between the uniforms of two dispatches, in bytes: an offset alignment that every device supports.
const QUERY_BYTES: usize = 256;

/// Kernel of the simultaneous descent.
#[derive(Debug)]
pub(in crate::accel) struct PairsDescend {
    kernel: QueryKernel,
}

impl PairsDescend {
    /// Creates the kernel. Returns `None` on GPUs, where each leaf traverses the tree by itself.
    pub(in crate::accel) fn new(gpu: &Gpu) -> Option<Self> {
        match gpu.capabilities.cooperation() {
            Cooperation::None => {}
            Cooperation::Subgroups(_) | Cooperation::Workgroups => return None,
        }
        let path = ("bvh/software/pairs_descend.wgsl", "pairs_descend");
        let bindings = [Uniform, ReadArray(4), ReadArray(4), Write, Write, Write, Uniform];
        Some(Self {
            kernel: QueryKernel::new(gpu, path, &bindings, &[], None),
        })
    }

    pub(in crate::accel) fn pipelines(&self, set: &mut PipelineSet) {
        self.kernel.pipelines(set);
    }

    /// Records the pairs of leaves whose boxes touch into the kept results of `counts`. The pairs are between
    /// the searched tree and `other`, or within the searched tree for `None`. If a list overflows, it writes
    /// a 1 after the counts of the leaves, and each leaf has to traverse the tree. Returns false and records
    /// nothing if indices or buffers would be too large.
    pub(in crate::accel) fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        (other, across): (Option<&Tree>, bool),
        counts: &Counts,
    ) -> Result<bool> {
        let (tree, within) = (search.tree, other.is_none());
        let other = other.unwrap_or(tree);
        let leaves = tree.triangle_count().max(other.triangle_count());
        let is_shared = leaves >= SHARED_FROM;
        let capacity = if is_shared {
            PAIRS * leaves.div_ceil(GROUPS)
        } else {
            0
        };
        let list_bytes =
            8 * (1 + 2 * u64::from(DESCENT_CAPACITY) + 2 * u64::from(GROUPS) * u64::from(capacity));
        let is_named = |tree: &Tree| {
            let numbers = u64::from(tree.triangle_count()) + 2 * u64::from(tree.mesh_count());
            tree.leaf_cutoff() == 1 && (1..LEAVES_NAMED).contains(&numbers)
        };
        if !is_named(tree) || !is_named(other) || list_bytes > gpu.binding_limit() {
            return Ok(false);
        }
        // First level, end level and number of workgroups.
        let dispatches = if is_shared {
            let shared = (TOP_LEVELS, PAIR_LEVELS, GROUPS);
            vec![(0, TOP_LEVELS, 1), shared, (PAIR_LEVELS, PAIR_LEVELS, 1)]
        } else {
            vec![(0, PAIR_LEVELS, 1), (PAIR_LEVELS, PAIR_LEVELS, 1)]
        };
        let mut rows = Vec::new();
        for (level, end, _) in &dispatches {
            let query = DescentQuery {
                level: *level,
                end: *end,
                count: other.triangle_count(),
                within: u32::from(within),
                across: u32::from(across),
                capacity,
            };
            rows.extend_from_slice(bytemuck::bytes_of(&query));
            rows.resize(rows.len().next_multiple_of(QUERY_BYTES), 0_u8);
        }
        let queries = gpu.buffer_with("pairs_descend.queries", &rows, Usage::UNIFORM);
        let list = gpu.catch(|| gpu.buffer("pairs_descend.list", list_bytes, Usage::STORAGE))?;
        // The predicate is applied to leaves later.
        let search = &Search {
            predicate: None,
            ..*search
        };
        let mut pass = recorder.scoped_compute_pass("pairs_descend");
        for (i, (_, _, groups)) in dispatches.into_iter().enumerate() {
            let query = wgpu::BufferBinding {
                buffer: &queries,
                offset: (QUERY_BYTES * i) as u64,
                size: wgpu::BufferSize::new(size_of::<DescentQuery>() as u64),
            };
            let own: [&dyn Bind; 7] = [
                &query,
                &other.triangles,
                &other.nodes,
                &counts.offsets,
                counts.kept(),
                &list,
                &other.info,
            ];
            self.kernel
                .dispatch(gpu, &mut pass, search, TRACE_BLOCK * groups, &own)?;
        }
        Ok(true)
    }
}
