//! `pairs_descend`: pairs of leaves whose boxes touch, by going down both trees at once. Software adapters run eight
//! threads in lockstep: pairs of one level are work of one size, where walks from leaf to leaf are not.

use crate::{
    Result,
    accel::{
        counted::Counts,
        layout::{DescentQuery, PAIR_LEVELS, TRACE_BLOCK},
        search::{QueryKernel, Search},
        tree::Tree,
    },
    gpu::{
        Bind, Gpu, Needs, Recorder,
        pass::Binding::{ReadArray, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Leaves of a range that has no node, at most.
const LEAVES: u32 = 4;
/// Leaves that have numbers.
const LEAVES_NAMED: u32 = 1 << 28;
/// Pairs of a level for which there is room, for each leaf. Boxes that fill space have 0.9.
const PAIRS: u64 = 2;
/// Levels that one workgroup does first: they have some hundred pairs.
const SMALL_LEVELS: u32 = 4;
/// Threads of a level, at most: more than processors have lanes, in less time than workgroups take to start.
pub(in crate::accel) const THREADS: u32 = 64 * TRACE_BLOCK;
/// Bytes between the uniforms of two dispatches: what every device lets offsets be a multiple of.
const QUERY_BYTES: usize = 256;

/// The kernel.
#[derive(Debug)]
pub(in crate::accel) struct PairsDescend {
    kernel: QueryKernel,
}

impl PairsDescend {
    pub(in crate::accel) fn new(gpu: &Gpu) -> Self {
        let path = ("accel/software/pairs_descend.wgsl", "pairs_descend");
        let bindings = [Uniform, ReadArray, ReadArray, Write, Write, Write, Uniform];
        Self {
            kernel: QueryKernel::new(gpu, path, &bindings, &[], None),
        }
    }

    pub(in crate::accel) fn needs(&self, needs: &mut Needs) {
        self.kernel.needs(needs);
    }

    /// Whether it can go down these trees: what it meets has numbers and room.
    pub(in crate::accel) fn can(&self, gpu: &Gpu, trees: [&Tree; 2]) -> bool {
        let is_named = |tree: &Tree| {
            tree.leaf_cutoff() <= LEAVES
                && (1..LEAVES_NAMED - 2 * tree.mesh_count()).contains(&tree.triangle_count())
        };
        trees.into_iter().all(is_named) && list_bytes(trees) <= gpu.binding_limit()
    }

    /// Records the pairs of leaves whose boxes touch, of the tree that is searched and of `other`, `None` for pairs
    /// within it, to what `counts` keeps; or that the leaves have to walk, by a 1 behind the counts of the leaves.
    pub(in crate::accel) fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        (other, across): (Option<&Tree>, bool),
        counts: &Counts,
    ) -> Result<()> {
        let (tree, within) = (search.tree, other.is_none());
        let other = other.unwrap_or(tree);
        let dispatches = dispatches([tree, other]);
        let mut rows = Vec::new();
        for (level, end, _) in &dispatches {
            let query = DescentQuery {
                level: *level,
                end: *end,
                count: other.triangle_count(),
                within: u32::from(within),
                across: u32::from(across),
            };
            rows.extend_from_slice(bytemuck::bytes_of(&query));
            rows.resize(rows.len().next_multiple_of(QUERY_BYTES), 0_u8);
        }
        let queries = gpu.buffer_with("pairs_descend.queries", &rows, Usage::UNIFORM);
        // A new buffer is zero, as are the counts of levels.
        let bytes = list_bytes([tree, other]);
        let list = gpu.catch(|| gpu.buffer("pairs_descend.pairs", bytes, Usage::STORAGE))?;
        let mut pass = recorder.scoped_compute_pass("pairs_descend");
        for (i, (_, _, threads)) in dispatches.into_iter().enumerate() {
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
                .dispatch(gpu, &mut pass, search, threads, &own)?;
        }
        Ok(())
    }
}

/// The dispatches: the first level of each, the one before which it ends, and threads.
fn dispatches(trees: [&Tree; 2]) -> Vec<(u32, u32, u32)> {
    // Nodes have four children. Trees that are deeper leave little below.
    let depth = |count: u32| (u32::BITS - count.leading_zeros()).div_ceil(2);
    let depth = |tree: &Tree| depth(tree.triangle_count()) + depth(tree.mesh_count());
    let deepest = trees.map(depth).into_iter().max().unwrap_or(0) + 1;
    let leaves = trees.map(Tree::triangle_count).into_iter().max();
    let threads = leaves.unwrap_or(0).div_ceil(4).min(THREADS);
    let one_level = |level| (level, level + 1, threads);
    let mut dispatches = vec![(0, SMALL_LEVELS, 1)];
    dispatches.extend((SMALL_LEVELS..deepest).map(one_level));
    dispatches.push((SMALL_LEVELS.max(deepest), PAIR_LEVELS, 1));
    dispatches
}

/// Bytes of the pairs of two levels, with the counts of all.
fn list_bytes(trees: [&Tree; 2]) -> u64 {
    let leaves = trees.map(|tree| u64::from(tree.triangle_count()));
    let counts = 4 * u64::from(PAIR_LEVELS + 1);
    counts.next_multiple_of(8) + 2 * 8 * (PAIRS * leaves[0].max(leaves[1])).max(16)
}
