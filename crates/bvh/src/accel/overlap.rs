//! `overlap`: the objects that each region of a list touches, counted first and then collected, or in one go.
//! Kernels of your own import `bvh/bvh_overlap.wgsl`.

pub use super::layout::{BoxQuery, CapsuleQuery, FrustumQuery, Touched};
use super::{
    counted::{Asked, CountedQuery, Counts, Found},
    layout::{BVH_BOX, BVH_CAPSULE, BVH_FRUSTUM, Objects},
    query_list::{Placed, Queries},
    query_order::{QueryOrder, SORTED_FROM},
    scan::Scan,
    search::{Predicate, Search},
};
use crate::{
    Result,
    gpu::{
        Gpu, Needs, Recorder,
        pass::Binding::{Read, ReadArray, Uniform},
    },
};
use std::marker::PhantomData;
use wgpu::BufferUsages as Usage;

/// A shape that a query looks into.
pub trait Region: Placed {
    /// The shape's number in the shaders.
    #[doc(hidden)]
    const SHAPE: u32;
}

impl Region for BoxQuery {
    const SHAPE: u32 = BVH_BOX;
}

impl Placed for BoxQuery {
    const FAR_ROW: Option<u32> = Some(1);
}

impl Region for CapsuleQuery {
    const SHAPE: u32 = BVH_CAPSULE;
}

impl Placed for CapsuleQuery {
    const FAR_ROW: Option<u32> = Some(1);
}

impl Region for FrustumQuery {
    const SHAPE: u32 = BVH_FRUSTUM;
}

impl Placed for FrustumQuery {
    const FAR_ROW: Option<u32> = None;
}

/// The query, for regions of one shape and trees over any objects.
#[derive(Debug)]
pub struct Overlap<R> {
    /// By the objects, and by whether the regions are sorted.
    queries: [[CountedQuery; 2]; 3],
    order: QueryOrder,
    scan: Scan,
    of: PhantomData<R>,
}

impl<R: Region> Overlap<R> {
    /// The query, compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// As [`Overlap::new`], for objects that a predicate of the caller's accepts.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        let query = |objects: Objects, sorted: u8| {
            let entries = ["overlap_count", "overlap_collect", "overlap_append"];
            let constants = [
                ("REGION_SHAPE", f64::from(R::SHAPE)),
                ("BVH_OBJECTS", objects.constant()),
                ("QUERIES_SORTED", f64::from(sorted)),
            ];
            let path = ("bvh/query/overlap.wgsl", "overlap");
            let asked = [Uniform, Read, ReadArray(1)];
            CountedQuery::new(gpu, path, entries, asked, &constants, predicate)
        };
        Self {
            queries: Objects::ALL.map(|objects| [0, 1].map(|sorted| query(objects, sorted))),
            order: QueryOrder::new(gpu),
            scan: Scan::new(gpu),
            of: PhantomData,
        }
    }

    /// Adds the kernels for trees over `objects` to what has to be compiled.
    pub fn needs(&self, objects: Objects, needs: &mut Needs) {
        for queries in &self.queries[objects as usize] {
            queries.needs(needs);
        }
        self.order.needs(needs);
        self.scan.needs(needs);
    }

    /// Records how many objects each region touches, and where those of each begin if they are collected.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where `counts` has no room for as many regions; those of compiling the
    /// kernels, where they were not compiled before.
    pub fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        regions: &Queries<R>,
        counts: &Counts,
    ) -> Result<()> {
        regions.record_sort(gpu, recorder, search.tree, &self.order)?;
        self.with(gpu, search, regions, 0, |query, asked| {
            query.record_count(gpu, recorder, asked, &self.scan, counts)
        })
    }

    /// Records mesh and number (two `u32`) of what regions touch, into `names` from each region's offset on.
    /// [`Overlap::record_count`] of the same comes first, and `names` has room for as many as it has counted.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn record_collect(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        regions: &Queries<R>,
        counts: &Counts,
        names: &wgpu::Buffer,
    ) -> Result<()> {
        self.with(gpu, search, regions, 0, |query, asked| {
            query.record_collect(gpu, recorder, asked, counts, names)
        })
    }

    /// Records region, mesh and number ([`Touched`]) of what regions touch, in one go, in any order and as far
    /// as `touched` has room. The first word of `total`, which has COPY_DST, becomes how many there are,
    /// whatever has found room; from 0xf000_0000 on there may be more.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
    pub fn record_append(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        regions: &Queries<R>,
        [total, touched]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        let room = touched.size() / size_of::<Touched>() as u64;
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        regions.record_sort(gpu, recorder, search.tree, &self.order)?;
        self.with(gpu, search, regions, room, |query, asked| {
            query.record_append(gpu, recorder, asked, [total, touched])
        })
    }

    /// Finds what `regions` touch, in buffers of just the size: counts, waits for the sum, and collects mesh
    /// and number of each. Many boxes or capsules are sorted first ([`Overlap::sorted`]).
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold the regions or what they
    /// touch; those of compiling.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, regions: &[R]) -> Result<Found<[u32; 2]>> {
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
        self.with(gpu, search, &regions, 0, |query, asked| {
            let counts = Counts::new(gpu, asked.count)?;
            query.run(gpu, asked, counts, |encoder, counts| {
                query.record_count(gpu, encoder, asked, &self.scan, counts)
            })
        })
    }

    /// The same regions, for queries that begin with a sort by Morton codes. It pays from some thousand on that are in
    /// no order; what is found is the same, in the same places. Frusta stay as they are.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold the order.
    pub fn sorted(&self, gpu: &Gpu, regions: Queries<R>) -> Result<Queries<R>> {
        regions.sorted(gpu, &self.order)
    }

    fn with<T>(
        &self,
        gpu: &Gpu,
        search: &Search<'_>,
        regions: &Queries<R>,
        room: u32,
        then: impl FnOnce(&CountedQuery, &Asked<'_>) -> Result<T>,
    ) -> Result<T> {
        let of_objects = &self.queries[search.tree.objects() as usize];
        let query = &of_objects[usize::from(regions.is_sorted())];
        let uniform = [[regions.count, search.leaf_cutoff.max(1), room, search.mask]];
        let uniform = gpu.buffer_with("overlap.query", &uniform, Usage::UNIFORM);
        let asked = Asked {
            search,
            count: regions.count,
            bound: [&uniform, &regions.buffer, regions.order(search.tree)],
        };
        then(query, &asked)
    }
}
