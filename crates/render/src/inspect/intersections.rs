//! `intersections`: which triangles pass through triangles of other meshes, and which meshes those are.

use crate::{
    aov::Channel,
    frame::{
        life_cycle::{Carried, LifeCycle},
        recording::Recording,
    },
    stats::{FrameStats, IntersectionCounts, MeshPair, TreeWork},
    world::World,
};
use canopy_bvh::{
    Result,
    accel::{
        Tree,
        layout::{PairQuery, TRACE_BLOCK},
    },
    gpu::{
        Gpu, Kernel, Recorder, Uniform, UniformArray, Workgroups,
        library::wgsl_constants,
        pass::Binding::{self, Write},
        readback::Counters,
    },
};
use std::{cmp::Reverse, sync::Arc};
use wgpu::BufferUsages as Usage;

wgsl_constants! {
    /// Words in front of the pairs of meshes: pairs of triangles, triangles, and pairs of triangles whose meshes found
    /// no room.
    const INTERSECTION_HEADER: u32 = 3;
    /// Pairs of meshes that there is room for, a power of two.
    const INTERSECTION_MESHES: u32 = 1024;
    /// Words of each: both meshes, plus 1, and how many pairs of triangles they have.
    const INTERSECTION_WORDS: u32 = 3;
}

const LABEL: &str = "intersections";
/// Words that come back.
const WORDS: usize = (INTERSECTION_HEADER + INTERSECTION_MESHES * INTERSECTION_WORDS) as usize;
/// Triangles that are tested without going further down.
const LEAF_CUTOFF: u32 = 4;
/// Leaves of a dispatch, so that none takes long.
const PART_LEAVES: u32 = 1 << 15;

impl IntersectionCounts {
    fn new(words: &[u32]) -> Self {
        let (header, rows) = words.split_at(INTERSECTION_HEADER as usize);
        let row = |row: &[u32]| MeshPair {
            meshes: [row[0] - 1, row[1] - 1].map(|mesh| mesh as usize),
            pairs: row[2],
        };
        let rows = rows.chunks_exact(INTERSECTION_WORDS as usize);
        let mut meshes: Vec<_> = rows.filter(|row| row[2] > 0).map(row).collect();
        meshes.sort_by_key(|pair| (Reverse(pair.pairs), pair.meshes));
        Self {
            pairs: header[0],
            triangles: header[1],
            meshes,
            unlisted: header[2],
        }
    }
}

/// The pass. Its bits have no room until they are asked for.
#[derive(Debug)]
pub struct Intersections {
    kernel: Kernel,
    tree: wgpu::BindGroupLayout,
    query: Uniform<PairQuery>,
    /// The first leaf of each part.
    first_leaves: UniformArray<u32>,
    /// A bit a triangle.
    through: wgpu::Buffer,
    found: wgpu::Buffer,
    readback: Counters<WORDS>,
    counts: Option<Arc<IntersectionCounts>>,
    /// What they are of: [`SceneBuffers::version`](crate::SceneBuffers::version).
    version: Option<u64>,
    /// Answers from this number on are of that scene.
    first_answer: u64,
    /// Whether the bits are those of the trees, and whether their counts come back: not where too many were under way.
    known: Carried<Option<ComesBack>>,
}

type ComesBack = bool;

impl Intersections {
    /// Ready to be compiled.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](canopy_bvh::Error::Limit) where the device has no buffer for its uniforms.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let tree = Tree::layout(gpu, wgpu::ShaderStages::COMPUTE);
        let bindings = [Binding::Uniform, Binding::Uniform, Write, Write];
        let (path, constants) = ("inspect/intersections.wgsl", [("PAIRS_THROUGH", 1.0)]);
        let shared = [(1, &tree)];
        let usage = Usage::STORAGE | Usage::COPY_SRC | Usage::COPY_DST;
        Ok(Self {
            kernel: Kernel::with_constants(gpu, path, LABEL, &shared, &bindings, &constants),
            tree,
            query: Uniform::new(gpu, "intersections.query"),
            first_leaves: UniformArray::new(gpu, "intersections.first_leaves", [0].into_iter())?,
            through: through(gpu, 0),
            found: gpu.buffer("intersections.found", 4 * WORDS as u64, usage),
            readback: Counters::new(gpu, "intersections.readback"),
            counts: None,
            version: None,
            first_answer: 0,
            known: Carried::default(),
        })
    }

    /// Looks for them where the frame wants them and the trees have changed since. Returns a bit a triangle of the merged
    /// buffers, or one word without a meaning.
    pub fn record(&mut self, recording: &mut Recording<'_>, world: World<'_>) -> Result<&wgpu::Buffer> {
        let World {
            frame,
            geometry,
            plan,
            ..
        } = world;
        let is_wanted = frame.wants(Channel::Intersections);
        let gpu = recording.gpu;
        let version = is_wanted.then_some(geometry.buffers.version);
        if self.version != version {
            self.counts = None;
            self.first_answer = self.readback.next();
            self.known.forget();
            let triangles = version.map_or(0, |_| geometry.buffers.triangle_count);
            self.through = gpu.catch(|| through(gpu, triangles))?;
            self.version = version;
        }
        let stays = self.known.last() == Some(&Some(true)) && plan.work == TreeWork::None;
        let comes_back = match is_wanted {
            true if stays => Some(true),
            true => Some(self.search(recording, world)?),
            false => None,
        };
        self.known.leave(comes_back);
        Ok(&self.through)
    }

    fn search(&mut self, recording: &mut Recording<'_>, world: World<'_>) -> Result<ComesBack> {
        let World { trees, .. } = world;
        let gpu = recording.gpu;
        let count = trees.tree.triangle_count();
        self.query.write(
            gpu,
            &PairQuery {
                count,
                leaf_cutoff: LEAF_CUTOFF,
                within: 1,
                across: 1,
                ..PairQuery::default()
            },
        );
        let firsts: Vec<_> = (0..count).step_by(PART_LEAVES as usize).collect();
        self.first_leaves
            .write_all(gpu, "intersections.first_leaves", &firsts)?;
        let encoder = recording.scope.encoder();
        encoder.clear_buffer(&self.through, 0, None);
        encoder.clear_buffer(&self.found, 0, None);
        let tree = trees.tree.bind_group(gpu, &self.tree);
        for (at, first) in firsts.into_iter().enumerate() {
            let leaves = (count - first).min(PART_LEAVES);
            recording.dispatch(
                LABEL,
                &self.kernel,
                &[(1, &tree)],
                &[&self.query, &self.first_leaves.at(at), &self.through, &self.found],
                Workgroups::Count(leaves.div_ceil(TRACE_BLOCK)),
            )?;
        }
        Ok(self.readback.record(&mut recording.scope, &self.found))
    }

    fn collect(&mut self) {
        let (first, counts) = (self.first_answer, &mut self.counts);
        self.readback.collect_each(|number, words| {
            if number >= first {
                *counts = Some(Arc::new(IntersectionCounts::new(&words)));
            }
        });
    }

    /// Whether the last frame has looked for them.
    pub fn is_known(&self) -> bool {
        matches!(self.known.last(), Some(Some(_)))
    }

    /// A bit a triangle of the last frame.
    pub fn output(&self) -> &wgpu::Buffer {
        &self.through
    }
}

fn through(gpu: &Gpu, triangles: u32) -> wgpu::Buffer {
    let usage = Usage::STORAGE | Usage::COPY_DST;
    let words = u64::from(triangles.div_ceil(32));
    gpu.buffer("intersections.through", 4 * words, usage)
}

impl LifeCycle for Intersections {
    fn parts(&mut self) -> Vec<&mut dyn LifeCycle> {
        vec![&mut self.known]
    }

    fn report(&mut self, stats: &mut FrameStats) {
        self.collect();
        stats.intersections.clone_from(&self.counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_meshes_are_listed_by_their_pairs() {
        let mut words = vec![0; WORDS];
        words[..3].copy_from_slice(&[17, 9, 2]);
        for (row, [a, b, pairs]) in [(5, [3, 4, 2]), (900, [1, 8, 12]), (17, [2, 9, 1]), (2, [1, 9, 1])] {
            words[3 + 3 * row..][..3].copy_from_slice(&[a, b, pairs]);
        }
        let counts = IntersectionCounts::new(&words);
        assert_eq!((counts.pairs, counts.triangles, counts.unlisted), (17, 9, 2));
        let listed = counts.meshes.iter().map(|pair| (pair.meshes, pair.pairs));
        assert!(listed.eq([([0, 7], 12), ([2, 3], 2), ([0, 8], 1), ([1, 8], 1)]));
        assert_eq!(
            IntersectionCounts::new(&[0; WORDS]),
            IntersectionCounts::default()
        );
    }
}
