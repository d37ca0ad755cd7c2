//! `intersections`: finds triangles that intersect triangles of other meshes, and the pairs of those meshes.

use crate::{
    aov::Channel,
    frame::{
        life_cycle::{LifeCycle, TemporalState},
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
    /// Number of words before the mesh pairs. They count triangle pairs, triangles, and triangle pairs whose
    /// meshes exceed the capacity.
    const INTERSECTION_HEADER: u32 = 3;
    /// Capacity for mesh pairs, a power of two.
    const INTERSECTION_MESHES: u32 = 1024;
    /// Number of words of a mesh pair: two mesh indices plus 1, and the number of triangle pairs.
    const INTERSECTION_WORDS: u32 = 3;
}

const LABEL: &str = "intersections";
/// Number of words that are read back.
const WORDS: usize = (INTERSECTION_HEADER + INTERSECTION_MESHES * INTERSECTION_WORDS) as usize;
/// Subtrees with at most this many triangles are tested without further traversal.
const LEAF_CUTOFF: u32 = 4;
/// Number of leaves per dispatch. It bounds the duration of a dispatch.
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

/// Pipeline of the pass and its results. The bit mask is empty until it is requested.
#[derive(Debug)]
pub struct Intersections {
    kernel: Kernel,
    tree: wgpu::BindGroupLayout,
    query: Uniform<PairQuery>,
    /// First leaf of each dispatch.
    first_leaves: UniformArray<u32>,
    /// Bit mask of the triangles.
    intersecting: wgpu::Buffer,
    found: wgpu::Buffer,
    readback: Counters<WORDS>,
    counts: Option<Arc<IntersectionCounts>>,
    /// [`SceneBuffers::version`](crate::SceneBuffers::version) of the scene that the results belong to.
    version: Option<u64>,
    /// Index of the first readback that belongs to `version`.
    first_answer: u64,
    /// `None` if the bit mask does not match the BVHs. Otherwise true if the counts are being read back, and
    /// false if too many readbacks were in flight.
    known: TemporalState<Option<ComesBack>>,
}

type ComesBack = bool;

impl Intersections {
    /// Creates the pass without compiling its pipeline.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](canopy_bvh::Error::Limit) if its uniforms exceed a limit of the device.
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
            intersecting: intersecting(gpu, 0),
            found: gpu.buffer("intersections.found", 4 * WORDS as u64, usage),
            readback: Counters::new(gpu, "intersections.readback"),
            counts: None,
            version: None,
            first_answer: 0,
            known: TemporalState::default(),
        })
    }

    /// Finds the intersections if the frame shows them and the trees have changed. Returns a bit mask of the
    /// triangles in the merged buffers, or a placeholder word.
    pub fn record(&mut self, recording: &mut Recording<'_>, world: World<'_>) -> Result<&wgpu::Buffer> {
        let World {
            frame,
            geometry,
            plan,
            ..
        } = world;
        let is_wanted = frame.needs_channel(Channel::Intersections);
        let gpu = recording.gpu;
        let version = is_wanted.then_some(geometry.buffers.version);
        if self.version != version {
            self.counts = None;
            self.first_answer = self.readback.next();
            self.known.reset();
            let triangles = version.map_or(0, |_| geometry.buffers.triangle_count);
            self.intersecting = gpu.catch(|| intersecting(gpu, triangles))?;
            self.version = version;
        }
        let stays = self.known.last() == Some(&Some(true)) && plan.work == TreeWork::None;
        let comes_back = match is_wanted {
            true if stays => Some(true),
            true => Some(self.search(recording, world)?),
            false => None,
        };
        self.known.set_pending(comes_back);
        Ok(&self.intersecting)
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
        encoder.clear_buffer(&self.intersecting, 0, None);
        encoder.clear_buffer(&self.found, 0, None);
        let tree = trees.tree.bind_group(gpu, &self.tree);
        for (at, first) in firsts.into_iter().enumerate() {
            let leaves = (count - first).min(PART_LEAVES);
            recording.dispatch(
                LABEL,
                &self.kernel,
                &[(1, &tree)],
                &[
                    &self.query,
                    &self.first_leaves.at(at),
                    &self.intersecting,
                    &self.found,
                ],
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

    /// True if the last frame has results.
    pub fn is_known(&self) -> bool {
        matches!(self.known.last(), Some(Some(_)))
    }

    /// Returns the bit mask of the triangles in the last frame.
    pub fn output(&self) -> &wgpu::Buffer {
        &self.intersecting
    }
}

fn intersecting(gpu: &Gpu, triangles: u32) -> wgpu::Buffer {
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
    fn mesh_pairs_are_sorted_by_their_number_of_triangle_pairs() {
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
