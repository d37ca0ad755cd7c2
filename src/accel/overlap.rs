//! `overlap`: the objects that each region of a list touches, counted first and then collected, or in one go.
//! Kernels of your own import `common/bvh_overlap.wgsl`.

pub use super::layout::{BoxQuery, CapsuleQuery, FrustumQuery, Touched};
use super::{
    counted::{CountedQuery, Found},
    layout::{BVH_BOX, BVH_CAPSULE, BVH_FRUSTUM, Objects},
    scan::Scan,
    search::{Predicate, Search},
};
use crate::{
    Result,
    gpu::{
        Bind, Gpu, Needs, Recorder,
        pass::Binding::{Read, Uniform},
    },
};
use bytemuck::Pod;
use std::marker::PhantomData;
use wgpu::BufferUsages as Usage;

/// A shape that a query looks into.
pub trait Region: Pod {
    /// The shape's number in the shaders.
    #[doc(hidden)]
    const SHAPE: u32;
}

impl Region for BoxQuery {
    const SHAPE: u32 = BVH_BOX;
}

impl Region for CapsuleQuery {
    const SHAPE: u32 = BVH_CAPSULE;
}

impl Region for FrustumQuery {
    const SHAPE: u32 = BVH_FRUSTUM;
}

/// Regions in GPU memory.
#[derive(Debug, Clone)]
pub struct Regions<R> {
    /// The regions.
    pub buffer: wgpu::Buffer,
    /// How many of them are asked for.
    pub count: u32,
    of: PhantomData<R>,
}

impl<R: Region> Regions<R> {
    /// Uploads `regions`.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold them.
    pub fn new(gpu: &Gpu, regions: &[R]) -> Result<Self> {
        let what = format!("a list of {} regions", regions.len());
        gpu.check_binding(&what, size_of_val(regions) as u64)?;
        gpu.catch(|| Self {
            buffer: gpu.buffer_with("overlap.regions", regions, Usage::STORAGE),
            // A binding holds less than 2^32 bytes.
            count: regions.len() as u32,
            of: PhantomData,
        })
    }

    /// The first `count` regions of a buffer of the caller's, with the usage `STORAGE`.
    pub fn of_buffer(buffer: wgpu::Buffer, count: u32) -> Self {
        Self {
            buffer,
            count,
            of: PhantomData,
        }
    }
}

/// The query, for regions of one shape and trees over any objects.
#[derive(Debug)]
pub struct Overlap<R> {
    queries: [CountedQuery; 3],
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
        let query = |objects: Objects| {
            let entries = ["overlap_count", "overlap_collect", "overlap_append"];
            let constants = [
                ("REGION_SHAPE", f64::from(R::SHAPE)),
                ("BVH_OBJECTS", objects.constant()),
            ];
            let path = ("accel/overlap.wgsl", "overlap");
            let bindings = (&[Uniform, Read][..], &[][..]);
            CountedQuery::new(gpu, path, entries, bindings, &constants, predicate)
        };
        Self {
            queries: Objects::ALL.map(query),
            scan: Scan::new(gpu),
            of: PhantomData,
        }
    }

    /// Adds the kernels for trees over `objects` to what has to be compiled.
    pub fn needs(&self, objects: Objects, needs: &mut Needs) {
        self.queries[objects as usize].needs(needs);
        self.scan.needs(needs);
    }

    /// Records how many objects each region touches, and where those of each begin if they are collected, into
    /// `offsets`, which has room for one more: a `u32` each, and their sum, which is `u32::MAX` if it is not
    /// less.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernels, where they were not compiled before.
    pub fn record_count(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        regions: &Regions<R>,
        offsets: &wgpu::Buffer,
    ) -> Result<()> {
        let query = Self::uniform(gpu, search, regions.count, 0);
        let before: [&dyn Bind; 2] = [&query, &regions.buffer];
        let asked = (search, regions.count);
        self.of(search)
            .record_count(gpu, recorder, asked, (&before, &[]), &self.scan, offsets)
    }

    /// Records mesh and number (two `u32`) of what regions touch, into `names` from each region's offset on.
    /// [`Overlap::record_count`] comes first, and `names` has room for as many as it has counted.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn record_collect(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        regions: &Regions<R>,
        [offsets, names]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        let query = Self::uniform(gpu, search, regions.count, 0);
        let before: [&dyn Bind; 2] = [&query, &regions.buffer];
        let asked = (search, regions.count);
        self.of(search)
            .record_collect(gpu, recorder, asked, (&before, &[]), [offsets, names])
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
        regions: &Regions<R>,
        [total, touched]: [&wgpu::Buffer; 2],
    ) -> Result<()> {
        let room = touched.size() / size_of::<Touched>() as u64;
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let query = Self::uniform(gpu, search, regions.count, room);
        let before: [&dyn Bind; 2] = [&query, &regions.buffer];
        let asked = (search, regions.count);
        self.of(search)
            .record_append(gpu, recorder, asked, (&before, &[]), [total, touched])
    }

    /// Finds what `regions` touch, in buffers of just the size: counts, waits for the sum, and collects mesh
    /// and number of each.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold the regions or what they
    /// touch; those of compiling.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, regions: &[R]) -> Result<Found<[u32; 2]>> {
        let regions = Regions::new(gpu, regions)?;
        let query = Self::uniform(gpu, search, regions.count, 0);
        let before: [&dyn Bind; 2] = [&query, &regions.buffer];
        let asked = (search, regions.count);
        self.of(search).run(gpu, asked, (&before, &[]), &self.scan)
    }

    fn of(&self, search: &Search<'_>) -> &CountedQuery {
        &self.queries[search.tree.objects() as usize]
    }

    fn uniform(gpu: &Gpu, search: &Search<'_>, count: u32, room: u32) -> wgpu::Buffer {
        let query = [[count, search.leaf_cutoff.max(1), room, search.mask]];
        gpu.buffer_with("overlap.query", &query, Usage::UNIFORM)
    }
}
