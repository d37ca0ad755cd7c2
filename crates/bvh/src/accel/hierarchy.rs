//! `tlas_leaves`, `hierarchy`, `pyramid`, `hierarchy_across`: build leaves and nodes from sorted items, with
//! one thread per two leaves.
//!
//! If a workgroup has room for a block of twice the size, a build of at most two blocks uses a single large
//! block. Then `pyramid` and `hierarchy_across` have nothing to do. These two kernels are latency-bound: they
//! wait for one load after another while most of the GPU idles.

use super::{
    layout::{
        ACROSS_MANY, ACROSS_THREADS, BLOCK, BLOCK_LEVELS, BuildParams, PYRAMID_FIRST_LEVEL, PYRAMID_STEP,
        Span,
    },
    stages::{Bound, StageLayouts, Stages, TreeBuffers},
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Kernel, PipelineSet,
        pass::Binding::{self, Read, ReadArray, Uniform, Write},
    },
};
use std::sync::Arc;

/// Maximum number of leaves, covered by `hierarchy` and two dispatches of `pyramid`.
pub(super) const LEAF_LIMIT: u32 = 1 << (BLOCK_LEVELS + 2 * PYRAMID_STEP);

/// Items of the large block, which replaces two normal blocks.
const LARGE_BLOCK: u32 = 2 * BLOCK;

/// Workgroup memory of the large block in bytes: the codes, boxes and two counters of `hierarchy.wgsl`.
const LARGE_BYTES: u32 = 8 * (LARGE_BLOCK + 2) + 24 * (LARGE_BLOCK - 2) + 8;

// `hierarchy.wgsl` packs three positions in a block into a word.
const _: () = assert!(BLOCK.is_power_of_two() && LARGE_BLOCK <= 1 << 10);

/// Kernels of the parallel radix-tree build.
#[derive(Debug)]
pub(super) struct Hierarchy {
    tlas_leaves: Kernel,
    hierarchy: Kernel,
    /// Variant for a single block of LARGE_BLOCK items, if a workgroup has room for it.
    large: Option<Kernel>,
    pyramid: Kernel,
    across: Kernel,
}

/// Kernels with the bind groups for one scene's BVHs.
#[derive(Debug)]
pub(super) struct HierarchyStages {
    kernels: Arc<Hierarchy>,
    tlas_leaves: Bound,
    hierarchy: Bound,
    large: Option<Bound>,
    /// Dispatches above the last block level, and above the last level of the previous dispatch.
    pyramid: [Bound; 2],
    across: Bound,
}

impl Hierarchy {
    pub(super) fn new(gpu: &Gpu, layouts: &StageLayouts, records: (&'static str, f64)) -> Self {
        let shared = [(1, &layouts.geometry), (2, &layouts.sorted)];
        let kernel =
            |path, entry, bindings| Kernel::with_constants(gpu, path, entry, &shared, bindings, &[records]);
        let path = "bvh/build/hierarchy.wgsl";
        let large = |bindings: &[Binding]| {
            let constants = [records, ("HIERARCHY_THREADS", f64::from(LARGE_BLOCK / 2))];
            Kernel::with_constants(gpu, path, "hierarchy", &shared, bindings, &constants)
        };
        let tlas_leaves = [Uniform, Write, Read];
        let (path_pyramid, pyramid) = ("bvh/build/pyramid.wgsl", [Uniform, Write, Uniform]);
        let nodes = [Uniform, Write, Write];
        let (path_across, across) = ("bvh/build/hierarchy_across.wgsl", [Uniform, ReadArray(4), Write]);
        Self {
            tlas_leaves: kernel("bvh/build/tlas_leaves.wgsl", "tlas_leaves", &tlas_leaves),
            hierarchy: kernel(path, "hierarchy", &nodes),
            large: has_room_for_large(&gpu.limits).then(|| large(&nodes)),
            pyramid: Kernel::new(gpu, path_pyramid, "pyramid_levels", &[], &pyramid),
            across: kernel(path_across, "hierarchy_across", &across),
        }
    }

    pub(super) fn pipelines(&self, set: &mut PipelineSet) {
        for kernel in [&self.tlas_leaves, &self.hierarchy, &self.pyramid, &self.across]
            .into_iter()
            .chain(&self.large)
        {
            kernel.pipelines(set);
        }
    }

    pub(super) fn stages(self: &Arc<Self>, gpu: &Gpu, buffers: &TreeBuffers<'_>) -> HierarchyStages {
        let (leaf_rows, node_rows) = (buffers.triangles.buffer(), buffers.nodes.buffer());
        let pyramid = |base_level: u32| {
            let usage = wgpu::BufferUsages::UNIFORM;
            let base_level = [[base_level, 0, 0, 0]];
            let base_level = gpu.buffer_with("pyramid.base_level", &base_level, usage);
            let own: [&dyn Bind; 3] = [buffers.params, buffers.scratch, &base_level];
            Bound::new(gpu, &self.pyramid, &[], &own)
        };
        let hierarchy = |kernel| buffers.bind(gpu, kernel, &[buffers.params, leaf_rows, node_rows]);
        HierarchyStages {
            kernels: self.clone(),
            tlas_leaves: buffers.bind(gpu, &self.tlas_leaves, &[buffers.params, leaf_rows, buffers.tlas]),
            hierarchy: hierarchy(&self.hierarchy),
            large: self.large.as_ref().map(hierarchy),
            pyramid: [BLOCK_LEVELS, BLOCK_LEVELS + PYRAMID_STEP].map(pyramid),
            across: buffers.bind(gpu, &self.across, &[buffers.params, buffers.triangles, node_rows]),
        }
    }
}

impl HierarchyStages {
    /// Records the nodes of `items` items, of which `meshes` are meshes.
    pub(super) fn record(&self, stages: &mut Stages<'_, '_>, items: u32, meshes: u32) -> Result<()> {
        let kernels = &self.kernels;
        let per_mesh = meshes.div_ceil(256);
        stages.run("tlas_leaves", &kernels.tlas_leaves, &self.tlas_leaves, per_mesh)?;
        let blocks = block_count(&stages.gpu.limits, items);
        let (kernel, bound) = match (&kernels.large, &self.large) {
            (Some(kernel), Some(bound)) if blocks * BLOCK < items => (kernel, bound),
            _ => (&kernels.hierarchy, &self.hierarchy),
        };
        stages.run("hierarchy", kernel, bound, blocks)?;
        if blocks < 2 {
            return Ok(());
        }
        let mut boxes = blocks;
        for bound in &self.pyramid {
            let workgroups = boxes.div_ceil(1 << PYRAMID_STEP);
            if boxes > 1 {
                stages.run("pyramid", &kernels.pyramid, bound, workgroups)?;
            }
            boxes = workgroups;
        }
        let block_threads = if items > ACROSS_MANY { 8 } else { 32 };
        let workgroups = blocks.div_ceil(ACROSS_THREADS / block_threads);
        stages.run("hierarchy_across", &kernels.across, &self.across, workgroups)
    }
}

/// Returns the number of blocks in a build of `items` items.
pub(super) fn block_count(limits: &wgpu::Limits, items: u32) -> u32 {
    match items.div_ceil(BLOCK) {
        2 if has_room_for_large(limits) => 1,
        blocks => blocks,
    }
}

fn has_room_for_large(limits: &wgpu::Limits) -> bool {
    let threads = LARGE_BLOCK / 2;
    limits.max_compute_workgroup_storage_size >= LARGE_BYTES
        && limits.max_compute_invocations_per_workgroup >= threads
        && limits.max_compute_workgroup_size_x >= threads
}

/// Sets the word offset of the spans in `params` (`bvh/sorted.wgsl`). Returns the total number of words,
/// including the spans.
pub(super) fn span_words(params: &mut BuildParams) -> u32 {
    params.spans_word = params.item_count;
    params.spans_word + (params.mesh_count + 1) * (size_of::<Span>() / 4) as u32
}

/// Sets the word offsets of the spans ([`span_words`]) and of all parts up to the pyramid in `params`.
/// Returns the total number of words.
pub(super) fn scratch_words(params: &mut BuildParams) -> u32 {
    let blocks = params.item_count.div_ceil(BLOCK);
    let (level_offset, boxes) = pyramid_levels(params.item_count);
    params.across_word = span_words(params);
    params.list_word = params.across_word + blocks;
    params.level_word = params.list_word + BLOCK * blocks;
    params.level_offset = level_offset;
    params.level_word + 6 * boxes
}

/// Returns the index of the first box of each stored level over `leaves` leaves, and the total number of
/// boxes.
fn pyramid_levels(leaves: u32) -> ([[u32; 4]; 7], u32) {
    let mut offsets = [[0; 4]; 7];
    let mut total = 0;
    for level in PYRAMID_FIRST_LEVEL as usize..28 {
        offsets[level / 4][level % 4] = total;
        // The pyramid ends at the level with one box. Levels above it are never read.
        if leaves.div_ceil(1 << (level - 1)) > 1 {
            total += leaves.div_ceil(1 << level);
        }
    }
    (offsets, total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn box_pyramid_levels_have_the_expected_offsets() {
        assert_eq!(pyramid_levels(0).1, 0);
        assert_eq!(pyramid_levels(4).1, 0);
        assert_eq!(
            pyramid_levels(5),
            ([[0, 0, 0, 0], [1; 4], [1; 4], [1; 4], [1; 4], [1; 4], [1; 4]], 1)
        );
        // The levels have 5, 3, 2 and 1 boxes.
        let (offsets, total) = pyramid_levels(37);
        assert_eq!((offsets[0][3], offsets[1], total), (0, [5, 8, 10, 11], 11));
    }

    #[test]
    fn scratch_buffer_parts_are_contiguous() {
        let mut params = BuildParams {
            item_count: 1030,
            mesh_count: 6,
            ..BuildParams::default()
        };
        let words = scratch_words(&mut params);
        let places = [
            params.spans_word,
            params.across_word,
            params.list_word,
            params.level_word,
        ];
        assert_eq!(places, [1030, 1051, 1054, 2590]);
        assert_eq!(words, 2590 + 6 * pyramid_levels(1030).1);
    }
}
