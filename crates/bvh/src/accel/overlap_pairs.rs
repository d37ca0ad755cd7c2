//! `overlap_pairs`: finds the pairs of touching objects, within one BVH or between two. They are counted
//! first and then collected, or appended in one pass.

pub use super::layout::ObjectPair;
use super::{
    counted::{CountedQuery, Counts, KEPT, QueryInput, QueryResults},
    layout::{Objects, PairQuery},
    scan::Scan,
    search::{Predicate, QueryKernel, Search},
    software::pairs_descend::PairsDescend,
    tree::Tree,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, PipelineSet, Recorder,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Average number of pairs that [`OverlapPairs::run`] keeps per box or ball while counting. Boxes that fill
/// space have 0.5 pairs each. Triangles use [`KEPT`], because neighbours in a surface touch.
const KEPT_OBJECTS: u64 = 2;

/// Maximum number of threads that count kept pairs. It exceeds the number of SIMD lanes of any CPU.
const KEPT_THREADS: u32 = 4096;

/// Parameters of a pair query.
#[derive(Debug, Clone, Copy)]
pub struct Pairs<'a> {
    /// Tree to search, and the filter on its objects. For pairs within one tree, it is that tree.
    pub search: Search<'a>,
    /// Other tree, whose objects come first in the pairs. `None` for pairs within one tree. Then each pair
    /// occurs once, and the object with the lower mesh and index comes first.
    pub other: Option<&'a Tree>,
    /// True to leave out triangles with a vertex at the same position, as neighbours in a surface have.
    pub distinct: bool,
    /// True to leave out pairs of objects in the same mesh or set.
    pub across: bool,
    /// True to leave out triangles that only touch. The remaining triangles pass through each other: their
    /// interiors intersect in a segment of nonzero length. Coplanar triangles are left out too, as are cases
    /// that rounding leaves undecided. A vertex counts as in the other triangle's plane if it is within half
    /// a millionth of the largest coordinate from it. The flag has no meaning for boxes and balls.
    pub through: bool,
}

impl<'a> Pairs<'a> {
    /// Returns the query for all pairs within one tree.
    pub fn within(tree: &'a Tree) -> Self {
        Self {
            search: Search::new(tree),
            other: None,
            distinct: false,
            across: false,
            through: false,
        }
    }

    /// Returns the query for pairs between two trees.
    pub fn between(other: &'a Tree, tree: &'a Tree) -> Self {
        Self {
            other: Some(other),
            ..Self::within(tree)
        }
    }

    /// Leaves out triangles that share a vertex.
    pub fn distinct(self) -> Self {
        Self {
            distinct: true,
            ..self
        }
    }

    /// Keeps only pairs of different meshes, for example to find where two bodies intersect.
    pub fn across(self) -> Self {
        Self { across: true, ..self }
    }

    /// Keeps only triangles that pass through each other, instead of all that touch.
    pub fn through(self) -> Self {
        Self {
            through: true,
            ..self
        }
    }

    /// Returns the query's bindings, where `query` is a [`PairQuery`].
    fn input<'b>(&'b self, query: &'b wgpu::Buffer) -> QueryInput<'b> {
        let query_tree = self.query_tree();
        QueryInput {
            search: &self.search,
            count: query_tree.triangle_count(),
            bound: [query, &query_tree.triangles, &query_tree.tlas],
        }
    }

    fn query_tree(&self) -> &'a Tree {
        self.other.unwrap_or(self.search.tree)
    }

    fn query(&self, capacity: u32) -> PairQuery {
        PairQuery {
            count: self.query_tree().triangle_count(),
            leaf_cutoff: self.search.leaf_cutoff.max(1),
            capacity,
            mask: self.search.mask,
            within: u32::from(self.other.is_none()),
            distinct: u32::from(self.distinct),
            across: u32::from(self.across),
            descended: 0,
        }
    }
}

/// Pair query, for trees over any objects.
#[derive(Debug)]
pub struct OverlapPairs {
    /// Kernels by the objects of the searched tree, then of the other tree.
    queries: [[PairKernels; 3]; 3],
    /// Kernels for triangles that pass through each other.
    through: PairKernels,
    /// Simultaneous descent of the two trees, on software adapters only.
    descend: Option<PairsDescend>,
    scan: Scan,
}

/// Kernels for two kinds of objects.
#[derive(Debug)]
struct PairKernels {
    counted: CountedQuery,
    /// Counting kernel for the pairs of boxes and balls that [`PairsDescend`] has kept. It replaces the
    /// counting kernel of `counted`.
    kept: Option<QueryKernel>,
}

impl OverlapPairs {
    /// Creates the query. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// Creates the query like [`OverlapPairs::new`], but only over objects of the searched tree that your
    /// predicate accepts. Its argument `query` is the leaf of the other object.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        let query = |objects: Objects, others: Objects, through: u8| {
            let entries = ["pairs_count", "pairs_collect", "pairs_append"];
            let constants = [
                ("BVH_OBJECTS", objects.constant()),
                ("BVH_OTHERS", others.constant()),
                ("PAIRS_THROUGH", f64::from(through)),
            ];
            let path = ("bvh/query/overlap_pairs.wgsl", "overlap_pairs");
            let input = [Uniform, ReadArray(4), Read];
            let entry = (path.0, "pairs_count_kept");
            let kept = [Uniform, ReadArray(4), Read, Write, Write, Read];
            PairKernels {
                counted: CountedQuery::new(gpu, path, entries, input, &constants, predicate),
                kept: [objects, others]
                    .iter()
                    .all(|kind| *kind != Objects::Triangles)
                    .then(|| QueryKernel::new(gpu, entry, &kept, &constants, predicate)),
            }
        };
        Self {
            queries: Objects::ALL.map(|objects| Objects::ALL.map(|others| query(objects, others, 0))),
            through: query(Objects::Triangles, Objects::Triangles, 1),
            descend: PairsDescend::new(gpu),
            scan: Scan::new(gpu),
        }
    }

    /// Adds the kernels for a searched tree over `objects` and another tree over `others` to the set of
    /// pipelines to compile.
    pub fn pipelines(&self, objects: Objects, others: Objects, set: &mut PipelineSet) {
        let kernels = &self.queries[objects as usize][others as usize];
        match (&self.descend, &kernels.kept) {
            (Some(descend), Some(kept)) => {
                descend.pipelines(set);
                kept.pipelines(set);
                kernels.counted.result_pipelines(set);
            }
            _ => kernels.counted.pipelines(set),
        }
        self.scan.pipelines(set);
    }

    /// Records the number of pairs of each leaf of the other tree, and the offset of each leaf's first pair.
    /// The number of queries is the other tree's [`Tree::triangle_count`].
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if `counts` has no room for this many queries. A compilation
    /// error, if the kernels were not compiled before.
    pub fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        pairs: &Pairs<'_>,
        counts: &Counts,
    ) -> Result<()> {
        let (kernels, query) = (self.kernels(pairs), pairs.query(0));
        let (Some(descend), Some(kept)) = (&self.descend, &kernels.kept) else {
            let uniform = query_buffer(gpu, query);
            let input = pairs.input(&uniform);
            return kernels
                .counted
                .record_count(gpu, recorder, &input, &self.scan, counts);
        };
        counts.begin(recorder, query.count)?;
        recorder.encoder().clear_buffer(&counts.offsets, 0, None);
        let sides = (pairs.other, pairs.across);
        let descended = descend.record(gpu, recorder, &pairs.search, sides, counts)?;
        let descended = u32::from(descended);
        let uniform = query_buffer(gpu, PairQuery { descended, ..query });
        let mut own = pairs.input(&uniform).bound.to_vec();
        let tlas = &pairs.search.tree.tlas;
        own.extend([&counts.offsets, counts.kept(), tlas].map(|buffer| buffer as &dyn Bind));
        let threads = query.count.min(KEPT_THREADS);
        let label = "overlap_pairs";
        kept.record(gpu, recorder, label, &pairs.search, threads, &own)?;
        self.scan.record(gpu, recorder, &counts.offsets, query.count)
    }

    /// Records the collection of the pairs ([`ObjectPair`]), from each leaf's offset on. First record
    /// [`OverlapPairs::record_count`] of the same query. `found` must have room for the counted total.
    ///
    /// # Errors
    ///
    /// The errors of [`OverlapPairs::record_count`].
    pub fn record_collect(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        pairs: &Pairs<'_>,
        counts: &Counts,
        found: &wgpu::Buffer,
    ) -> Result<()> {
        let uniform = query_buffer(gpu, pairs.query(0));
        let counted = &self.kernels(pairs).counted;
        counted.record_collect(gpu, recorder, &pairs.input(&uniform), counts, found)
    }

    /// Records the pairs in one pass, in any order, until `found` is full. The first word of `total`, whose
    /// buffer needs `COPY_DST`, becomes the number of pairs, even if it exceeds the capacity of `found`. A
    /// total of 0xf000_0000 or more is only a lower bound.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernel was not compiled before.
    pub fn record_append(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        pairs: &Pairs<'_>,
        [total, found]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        let capacity = u32::try_from(found.size() / size_of::<ObjectPair>() as u64).unwrap_or(u32::MAX);
        let uniform = query_buffer(gpu, pairs.query(capacity));
        let counted = &self.kernels(pairs).counted;
        counted.record_append(gpu, recorder, &pairs.input(&uniform), [total, found])
    }

    /// Finds the pairs, in a buffer of exactly the right size. It counts, waits for the total, and collects.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the pairs exceed the device's limits. Any compilation error.
    pub fn run(&self, gpu: &Gpu, pairs: &Pairs<'_>) -> Result<QueryResults<ObjectPair>> {
        let uniform = query_buffer(gpu, pairs.query(0));
        let counted = &self.kernels(pairs).counted;
        let query_tree = pairs.query_tree();
        let kept = match query_tree.objects() {
            Objects::Triangles => KEPT,
            Objects::Boxes | Objects::Balls => KEPT_OBJECTS,
        };
        let counts = Counts::keeping_each(gpu, query_tree.triangle_count(), kept)?;
        counted.run(gpu, &pairs.input(&uniform), counts, |encoder, counts| {
            self.record_count(gpu, encoder, pairs, counts)
        })
    }

    fn kernels(&self, pairs: &Pairs<'_>) -> &PairKernels {
        match [pairs.search.tree, pairs.query_tree()].map(Tree::objects) {
            [Objects::Triangles, Objects::Triangles] if pairs.through => &self.through,
            [objects, others] => &self.queries[objects as usize][others as usize],
        }
    }
}

fn query_buffer(gpu: &Gpu, query: PairQuery) -> wgpu::Buffer {
    gpu.buffer_with("overlap_pairs.query", &[query], Usage::UNIFORM)
}
