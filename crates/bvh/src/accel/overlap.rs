//! `overlap`: finds the objects that each region of a list touches. They are counted first and then
//! collected, or appended in one pass. To use it in your own kernels, import `bvh/bvh_overlap.wgsl`.

pub use super::layout::{BoxQuery, CapsuleQuery, FrustumQuery, Touched};
use super::{
    counted::{CountedQuery, Counts, QueryInput, QueryResults},
    layout::{BVH_BOX, BVH_CAPSULE, BVH_FRUSTUM, Objects},
    query_list::{PositionedQuery, Queries},
    query_order::{QueryOrder, SORTED_FROM},
    scan::Scan,
    search::{Predicate, Search},
};
use crate::{
    Result,
    gpu::{
        Gpu, PipelineSet, Recorder,
        pass::Binding::{Read, ReadArray, Uniform},
    },
};
use std::marker::PhantomData;
use wgpu::BufferUsages as Usage;

/// Region shape of an overlap query.
pub trait Region: PositionedQuery {
    /// Shape constant in the shaders.
    #[doc(hidden)]
    const SHAPE: u32;
}

impl Region for BoxQuery {
    const SHAPE: u32 = BVH_BOX;
}

impl PositionedQuery for BoxQuery {
    const SECOND_POSITION_ROW: Option<u32> = Some(1);
}

impl Region for CapsuleQuery {
    const SHAPE: u32 = BVH_CAPSULE;
}

impl PositionedQuery for CapsuleQuery {
    const SECOND_POSITION_ROW: Option<u32> = Some(1);
}

impl Region for FrustumQuery {
    const SHAPE: u32 = BVH_FRUSTUM;
}

impl PositionedQuery for FrustumQuery {
    const SECOND_POSITION_ROW: Option<u32> = None;
}

/// Overlap query, for regions of one shape and BVHs over any objects.
#[derive(Debug)]
pub struct Overlap<R> {
    /// Kernels by kind of object, then unsorted and sorted.
    queries: [[CountedQuery; 2]; 3],
    order: QueryOrder,
    scan: Scan,
    of: PhantomData<R>,
}

impl<R: Region> Overlap<R> {
    /// Creates the query. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// Creates the query like [`Overlap::new`], but only over objects that your predicate accepts.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        let query = |objects: Objects, sorted: u8| {
            let entries = ["overlap_count", "overlap_collect", "overlap_append"];
            let constants = [
                ("REGION_SHAPE", f64::from(R::SHAPE)),
                ("BVH_OBJECTS", objects.constant()),
                ("QUERIES_SORTED", f64::from(sorted)),
            ];
            let path = ("bvh/query/overlap.wgsl", "overlap");
            let input = [Uniform, Read, ReadArray(1)];
            CountedQuery::new(gpu, path, entries, input, &constants, predicate)
        };
        Self {
            queries: Objects::ALL.map(|objects| [0, 1].map(|sorted| query(objects, sorted))),
            order: QueryOrder::new(gpu),
            scan: Scan::new(gpu),
            of: PhantomData,
        }
    }

    /// Adds the kernels for trees over `objects` to the set of pipelines to compile.
    pub fn pipelines(&self, objects: Objects, set: &mut PipelineSet) {
        for queries in &self.queries[objects as usize] {
            queries.pipelines(set);
        }
        self.order.pipelines(set);
        self.scan.pipelines(set);
    }

    /// Records the number of objects that each region touches, and the offset of each region's first result.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if `counts` has no room for this many regions. A compilation
    /// error, if the kernels were not compiled before.
    pub fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        regions: &Queries<R>,
        counts: &Counts,
    ) -> Result<()> {
        regions.record_sort(gpu, recorder, search.tree, &self.order)?;
        self.with(gpu, search, regions, 0, |query, input| {
            query.record_count(gpu, recorder, input, &self.scan, counts)
        })
    }

    /// Records the collection of the touched objects: mesh and index (two `u32`) of each, written to `names`
    /// from each region's offset on. First record [`Overlap::record_count`] of the same query. `names` must
    /// have room for the counted total.
    ///
    /// # Errors
    ///
    /// The errors of [`Overlap::record_count`].
    pub fn record_collect(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        regions: &Queries<R>,
        counts: &Counts,
        names: &wgpu::Buffer,
    ) -> Result<()> {
        self.with(gpu, search, regions, 0, |query, input| {
            query.record_collect(gpu, recorder, input, counts, names)
        })
    }

    /// Records the touched objects in one pass: region, mesh and index ([`Touched`]) of each, in any order,
    /// until `touched` is full. The first word of `total`, whose buffer needs `COPY_DST`, becomes the number
    /// of touched objects, even if it exceeds the capacity of `touched`. A total of 0xf000_0000 or more is
    /// only a lower bound.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernel was not compiled before.
    pub fn record_append(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        regions: &Queries<R>,
        [total, touched]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        let capacity = touched.size() / size_of::<Touched>() as u64;
        let capacity = u32::try_from(capacity).unwrap_or(u32::MAX);
        regions.record_sort(gpu, recorder, search.tree, &self.order)?;
        self.with(gpu, search, regions, capacity, |query, input| {
            query.record_append(gpu, recorder, input, [total, touched])
        })
    }

    /// Finds the objects that `regions` touch, in buffers of exactly the right size. It counts, waits for the
    /// total, and collects the mesh and index of each. Large lists of boxes or capsules are sorted first
    /// ([`Overlap::sorted`]).
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the regions or the results exceed the device's limits. Any
    /// compilation error.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, regions: &[R]) -> Result<QueryResults<[u32; 2]>> {
        let regions = Queries::new(gpu, regions)?;
        let regions = match regions.count {
            SORTED_FROM.. => self.sorted(gpu, regions)?,
            _ => regions,
        };
        if regions.is_sorted() {
            let mut encoder = gpu.encoder("overlap");
            regions.record_sort(gpu, &mut encoder, search.tree, &self.order)?;
            gpu.queue.submit([encoder.finish()]);
        }
        self.with(gpu, search, &regions, 0, |query, input| {
            let counts = Counts::new(gpu, input.count)?;
            query.run(gpu, input, counts, |encoder, counts| {
                query.record_count(gpu, encoder, input, &self.scan, counts)
            })
        })
    }

    /// Marks the regions for sorting by Morton codes before each query. This pays off from a few thousand
    /// unordered regions on. The results and their order do not change. Frusta are not sorted.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the sort buffers exceed the device's limits.
    pub fn sorted(&self, gpu: &Gpu, regions: Queries<R>) -> Result<Queries<R>> {
        regions.sorted(gpu, &self.order)
    }

    fn with<T>(
        &self,
        gpu: &Gpu,
        search: &Search<'_>,
        regions: &Queries<R>,
        capacity: u32,
        then: impl FnOnce(&CountedQuery, &QueryInput<'_>) -> Result<T>,
    ) -> Result<T> {
        let of_objects = &self.queries[search.tree.objects() as usize];
        let query = &of_objects[usize::from(regions.is_sorted())];
        let uniform = [[regions.count, search.leaf_cutoff.max(1), capacity, search.mask]];
        let uniform = gpu.buffer_with("overlap.query", &uniform, Usage::UNIFORM);
        let input = QueryInput {
            search,
            count: regions.count,
            bound: [&uniform, &regions.buffer, regions.order(search.tree)],
        };
        then(query, &input)
    }
}
