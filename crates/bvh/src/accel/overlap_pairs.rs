//! `overlap_pairs`: the pairs of objects that touch each other, within one tree or between two, counted first and
//! then collected, or in one go.

pub use super::layout::ObjectPair;
use super::{
    counted::{Asked, CountedQuery, Counts, Found, KEPT},
    layout::{Objects, PairQuery},
    scan::Scan,
    search::{Predicate, QueryKernel, Search},
    software::pairs_descend::PairsDescend,
    tree::Tree,
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Needs, Recorder,
        pass::Binding::{Read, ReadArray, Uniform, Write},
    },
};
use wgpu::BufferUsages as Usage;

/// Pairs that are kept for each box or ball, in the mean, where the search makes room. Neighbours of a surface of
/// triangles touch, boxes that fill space make 0.5 pairs each.
const KEPT_OBJECTS: u64 = 2;

/// Threads that count what is kept, at most: more than processors have lanes.
const KEPT_THREADS: u32 = 4096;

/// Whose pairs are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Pairs<'a> {
    /// One side, and what is accepted of it; within one tree, the tree.
    pub search: Search<'a>,
    /// The other side, whose objects are the first ones of the pairs; `None` for pairs within one tree, each
    /// once, the one with the lesser mesh and number first.
    pub other: Option<&'a Tree>,
    /// Leaves out triangles that have a corner at the same place, as neighbours of one surface have.
    pub distinct: bool,
    /// Leaves out pairs of objects of one mesh or set.
    pub across: bool,
    /// Leaves out triangles that only touch: those that are left pass through each other, and share points inside of
    /// both along a line of some length. Triangles of one plane do not, nor do those of which rounding does not
    /// tell: corners within half a millionth of the largest coordinate of the other's plane lie in it. Without a
    /// meaning for boxes and balls.
    pub through: bool,
}

impl<'a> Pairs<'a> {
    /// Within one tree.
    pub fn within(tree: &'a Tree) -> Self {
        Self {
            search: Search::new(tree),
            other: None,
            distinct: false,
            across: false,
            through: false,
        }
    }

    /// Of the objects of `other` with those of `tree`.
    pub fn between(other: &'a Tree, tree: &'a Tree) -> Self {
        Self {
            other: Some(other),
            ..Self::within(tree)
        }
    }

    /// Without triangles that share a corner.
    pub fn distinct(self) -> Self {
        Self {
            distinct: true,
            ..self
        }
    }

    /// Of different meshes only, as where one body goes into another.
    pub fn across(self) -> Self {
        Self { across: true, ..self }
    }

    /// Triangles that pass through each other, instead of all that touch.
    pub fn through(self) -> Self {
        Self {
            through: true,
            ..self
        }
    }

    /// What is bound, where `query` is a [`PairQuery`].
    fn asked<'b>(&'b self, query: &'b wgpu::Buffer) -> Asked<'b> {
        let asking = self.asking();
        Asked {
            search: &self.search,
            count: asking.triangle_count(),
            bound: [query, &asking.triangles, &asking.tlas],
        }
    }

    fn asking(&self) -> &'a Tree {
        self.other.unwrap_or(self.search.tree)
    }

    fn query(&self, room: u32) -> PairQuery {
        PairQuery {
            count: self.asking().triangle_count(),
            leaf_cutoff: self.search.leaf_cutoff.max(1),
            room,
            mask: self.search.mask,
            within: u32::from(self.other.is_none()),
            distinct: u32::from(self.distinct),
            across: u32::from(self.across),
            descended: 0,
        }
    }
}

/// The query, for trees over any objects.
#[derive(Debug)]
pub struct OverlapPairs {
    /// By the objects of the tree that is searched, and of the other one.
    queries: [[PairKernels; 3]; 3],
    /// For triangles that pass through each other.
    through: PairKernels,
    /// If pairs are counted by both trees at once.
    descend: Option<PairsDescend>,
    scan: Scan,
}

/// The kernels for objects of two kinds.
#[derive(Debug)]
struct PairKernels {
    counted: CountedQuery,
    /// Counts in place of `counted`, what [`PairsDescend`] has kept of boxes and balls.
    kept: Option<QueryKernel>,
}

impl OverlapPairs {
    /// The query, compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// As [`OverlapPairs::new`], for objects of the tree that is searched which a predicate of the caller's accepts;
    /// its `query` is the leaf of the other object.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        let query = |objects: Objects, others: Objects, through: u8| {
            let entries = ["pairs_count", "pairs_collect", "pairs_append"];
            let constants = [
                ("BVH_OBJECTS", objects.constant()),
                ("BVH_OTHERS", others.constant()),
                ("PAIRS_THROUGH", f64::from(through)),
            ];
            let path = ("bvh/query/overlap_pairs.wgsl", "overlap_pairs");
            let asked = [Uniform, ReadArray(4), Read];
            let entry = (path.0, "pairs_count_kept");
            let kept = [Uniform, ReadArray(4), Read, Write, Write, Read];
            PairKernels {
                counted: CountedQuery::new(gpu, path, entries, asked, &constants, predicate),
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

    /// Adds the kernels for a tree over `objects` that is asked by one over `others` to what has to be compiled.
    pub fn needs(&self, objects: Objects, others: Objects, needs: &mut Needs) {
        let kernels = &self.queries[objects as usize][others as usize];
        match (&self.descend, &kernels.kept) {
            (Some(descend), Some(kept)) => {
                descend.needs(needs);
                kept.needs(needs);
                kernels.counted.needs_results(needs);
            }
            _ => kernels.counted.needs(needs),
        }
        self.scan.needs(needs);
    }

    /// Records how many pairs each leaf of the other tree has, and where those of each begin if they are collected:
    /// its [`Tree::triangle_count`] is the number of queries.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where `counts` has no room for as many; those of compiling the kernels,
    /// where they were not compiled before.
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
            let asked = pairs.asked(&uniform);
            return kernels
                .counted
                .record_count(gpu, recorder, &asked, &self.scan, counts);
        };
        counts.begin(recorder, query.count)?;
        recorder.encoder().clear_buffer(&counts.offsets, 0, None);
        let sides = (pairs.other, pairs.across);
        let descended = descend.record(gpu, recorder, &pairs.search, sides, counts)?;
        let descended = u32::from(descended);
        let uniform = query_buffer(gpu, PairQuery { descended, ..query });
        let mut own = pairs.asked(&uniform).bound.to_vec();
        let tlas = &pairs.search.tree.tlas;
        own.extend([&counts.offsets, counts.kept(), tlas].map(|buffer| buffer as &dyn Bind));
        let threads = query.count.min(KEPT_THREADS);
        let label = "overlap_pairs";
        kept.record(gpu, recorder, label, &pairs.search, threads, &own)?;
        self.scan.record(gpu, recorder, &counts.offsets, query.count)
    }

    /// Records the pairs ([`ObjectPair`]), from each leaf's offset on. [`OverlapPairs::record_count`] of the same comes
    /// first, and `found` has room for as many as it has counted.
    ///
    /// # Errors
    ///
    /// As there.
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
        counted.record_collect(gpu, recorder, &pairs.asked(&uniform), counts, found)
    }

    /// Records the pairs in one go, in any order and as far as `found` has room. The first word of `total`,
    /// which has COPY_DST, becomes how many there are, whatever has found room; from 0xf000_0000 on there may be
    /// more.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
    pub fn record_append(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        pairs: &Pairs<'_>,
        [total, found]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        let room = u32::try_from(found.size() / size_of::<ObjectPair>() as u64).unwrap_or(u32::MAX);
        let uniform = query_buffer(gpu, pairs.query(room));
        let counted = &self.kernels(pairs).counted;
        counted.record_append(gpu, recorder, &pairs.asked(&uniform), [total, found])
    }

    /// Finds the pairs, in a buffer of just the size: counts, waits for the sum, and collects.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold them; those of compiling.
    pub fn run(&self, gpu: &Gpu, pairs: &Pairs<'_>) -> Result<Found<ObjectPair>> {
        let uniform = query_buffer(gpu, pairs.query(0));
        let counted = &self.kernels(pairs).counted;
        let asking = pairs.asking();
        let kept = match asking.objects() {
            Objects::Triangles => KEPT,
            Objects::Boxes | Objects::Balls => KEPT_OBJECTS,
        };
        let counts = Counts::keeping_each(gpu, asking.triangle_count(), kept)?;
        counted.run(gpu, &pairs.asked(&uniform), counts, |encoder, counts| {
            self.record_count(gpu, encoder, pairs, counts)
        })
    }

    fn kernels(&self, pairs: &Pairs<'_>) -> &PairKernels {
        match [pairs.search.tree, pairs.asking()].map(Tree::objects) {
            [Objects::Triangles, Objects::Triangles] if pairs.through => &self.through,
            [objects, others] => &self.queries[objects as usize][others as usize],
        }
    }
}

fn query_buffer(gpu: &Gpu, query: PairQuery) -> wgpu::Buffer {
    gpu.buffer_with("overlap_pairs.query", &[query], Usage::UNIFORM)
}
