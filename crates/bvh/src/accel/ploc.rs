//! `ploc`, `ploc_leaves`, `ploc_nodes`: build leaves and nodes of lower cost than a radix tree's from sorted
//! items (Meister and Bittner 2018). A workgroup clusters a chunk by itself, and each level is one dispatch.

use super::{
    layout::{BuildParams, PLOC_BLOCK, PLOC_MAX_OUTPUT, PLOC_ROWS, PlocLevel},
    stages::{self, Bound, StageLayouts, Stages, TreeBuffers},
};
use crate::{
    Result,
    gpu::{
        Array, Bind, Gpu, Kernel,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};
use std::sync::Arc;

/// Rounds in which a chunk halves its clusters to the PLOC_MAX_OUTPUT that it passes on, plus one: see
/// `halvings` in WGSL.
const ROUNDS: u32 = (PLOC_BLOCK / PLOC_MAX_OUTPUT).ilog2() + 1;
/// Rounds in which the last chunk merges all its clusters, plus one.
const LAST_ROUNDS: u32 = PLOC_BLOCK.ilog2() + 1;

/// Kernels of the PLOC build.
#[derive(Debug)]
pub(super) struct Ploc {
    items: Kernel,
    clusters: Kernel,
    leaves: Kernel,
    nodes: Kernel,
}

/// Kernels with the bind groups for one scene's BVHs.
#[derive(Debug)]
pub(super) struct PlocStages {
    kernels: Arc<Ploc>,
    /// Bind group, uniform buffer and buffer offsets of each level. The clusters of the first level are the
    /// items.
    levels: Vec<(Bound, wgpu::Buffer, PlocLevel)>,
    leaves: Bound,
    nodes: Bound,
    output: [Array; 2],
}

impl Ploc {
    pub(super) fn new(gpu: &Gpu, layouts: &StageLayouts, records: (&'static str, f64)) -> Self {
        let shared = [(1, &layouts.geometry), (2, &layouts.sorted)];
        let kernel = |path, entry, shared, bindings| {
            Kernel::with_constants(gpu, path, entry, shared, bindings, &[records])
        };
        let level = [Uniform, Uniform, Write, Read];
        let leaves = [Uniform, Write, Read];
        let nodes = [Uniform, Write, ReadArray(4), Write];
        Self {
            items: kernel("bvh/build/ploc.wgsl", "ploc_items", &shared, &level),
            clusters: kernel("bvh/build/ploc.wgsl", "ploc_clusters", &shared, &level),
            leaves: kernel("bvh/build/ploc_leaves.wgsl", "ploc_leaves", &shared, &leaves),
            // Does not bind the geometry, which would exceed the eight storage buffers of the weakest
            // devices.
            nodes: kernel("bvh/build/ploc_nodes.wgsl", "ploc_nodes", &shared[1..], &nodes),
        }
    }

    pub(super) fn stages(
        self: &Arc<Self>,
        gpu: &Gpu,
        buffers: &TreeBuffers<'_>,
        params: &BuildParams,
    ) -> Result<PlocStages> {
        let levels = levels(params);
        let rows = levels.last().map_or(0, |level| level.next_row);
        let rows = stages::buffer(gpu, "ploc.rows", buffers.triangle_count, rows, 16)?;
        let bind = |(index, level): (usize, &PlocLevel)| {
            let usage = wgpu::BufferUsages::UNIFORM;
            let uniform = gpu.buffer_with("ploc.level", &[*level], usage);
            let kernel = if index == 0 { &self.items } else { &self.clusters };
            let own: [&dyn Bind; 4] = [buffers.params, &uniform, &rows, buffers.tlas];
            (buffers.bind(gpu, kernel, &own), uniform, *level)
        };
        let (leaf_rows, node_rows) = (buffers.triangles.buffer(), buffers.nodes.buffer());
        let nodes: [&dyn Bind; 4] = [buffers.params, &rows, buffers.triangles, node_rows];
        Ok(PlocStages {
            kernels: self.clone(),
            levels: levels.iter().enumerate().map(bind).collect(),
            leaves: buffers.bind(gpu, &self.leaves, &[buffers.params, leaf_rows, buffers.tlas]),
            nodes: Bound::new(gpu, &self.nodes, &[(2, buffers.sorted)], &nodes),
            output: [buffers.triangles.clone(), buffers.nodes.clone()],
        })
    }
}

impl PlocStages {
    /// Records the nodes of `items` items, and publishes all nodes and leaves. Call [`PlocStages::set_count`]
    /// with the same number first.
    pub(super) fn record(&self, stages: &mut Stages<'_, '_>, items: u32) -> Result<()> {
        let kernels = &self.kernels;
        let mut kernel = &kernels.items;
        for ((bound, _, _), chunks) in self.levels.iter().zip(chunks(items)) {
            stages.run("ploc", kernel, bound, chunks)?;
            kernel = &kernels.clusters;
        }
        let [triangles, nodes] = &self.output;
        let per_item = items.div_ceil(256);
        stages.run("ploc_leaves", &kernels.leaves, &self.leaves, per_item)?;
        stages.publish_all(&[triangles]);
        stages.run("ploc_nodes", &kernels.nodes, &self.nodes, per_item)?;
        stages.publish_all(&[nodes]);
        Ok(())
    }

    /// Sets the number of items for the next builds.
    pub(super) fn set_count(&self, gpu: &Gpu, items: u32) {
        let chunks = chunks(items);
        for (index, (_, uniform, level)) in self.levels.iter().enumerate() {
            let later = chunks.len().saturating_sub(index + 1) as u32;
            let level = PlocLevel {
                chunks: index
                    .checked_sub(1)
                    .map_or(0, |before| chunks[before.min(chunks.len() - 1)]),
                rounds_after: rounds(later),
                ..*level
            };
            gpu.queue.write_buffer(uniform, 0, bytemuck::bytes_of(&level));
        }
    }
}

/// Returns the number of chunks on each level over `items` items. There is at least one level.
fn chunks(items: u32) -> Vec<u32> {
    let mut chunks = vec![items.div_ceil(PLOC_BLOCK).max(1)];
    while chunks[chunks.len() - 1] > 1 {
        chunks.push(chunks[chunks.len() - 1].div_ceil(PLOC_BLOCK / PLOC_MAX_OUTPUT));
    }
    chunks
}

/// Returns the minimum number of rounds that `levels` levels need.
fn rounds(levels: u32) -> u32 {
    levels
        .checked_sub(1)
        .map_or(0, |others| others * ROUNDS + LAST_ROUNDS)
}

/// Sets the word offsets of `bvh/build/ploc_links.wgsl` in `params`, after the first `words` words of the
/// scratch buffer. Returns the total number of words.
pub(super) fn scratch_words(params: &mut BuildParams, words: u32) -> u32 {
    let left: u32 = chunks_passed_on(params.item_count).sum();
    params.link_word = words;
    params.count_word = params.link_word + 2 * (params.item_count + PLOC_MAX_OUTPUT * left);
    params.count_word + 2 * params.item_count + left
}

/// Returns the number of chunks on each level but the last, which passes nothing on.
fn chunks_passed_on(items: u32) -> impl Iterator<Item = u32> {
    let mut chunks = chunks(items);
    chunks.pop();
    chunks.into_iter()
}

/// Returns the levels over all items, with the offsets of their slots, rows and words.
fn levels(params: &BuildParams) -> Vec<PlocLevel> {
    let mut level = PlocLevel {
        next_slot: params.item_count,
        next_row: 2 * params.item_count,
        next_word: params.count_word + 2 * params.item_count,
        ..PlocLevel::default()
    };
    let mut levels = vec![level];
    for chunks in chunks_passed_on(params.item_count) {
        level = PlocLevel {
            first_slot: level.next_slot,
            row_offset: level.next_row,
            first_word: level.next_word,
            next_slot: level.next_slot + PLOC_MAX_OUTPUT * chunks,
            next_row: level.next_row + PLOC_ROWS * PLOC_MAX_OUTPUT * chunks,
            next_word: level.next_word + chunks,
            ..level
        };
        levels.push(level);
    }
    levels
}
