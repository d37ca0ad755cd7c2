//! `nearest_k`: finds the k nearest objects for each point of a list.

pub use super::layout::Neighbour;
use super::{
    layout::Objects,
    query_list::Queries,
    search::{ListQuery, Predicate, Search},
};
use crate::{
    Result,
    gpu::{Gpu, PipelineSet, Recorder},
};

/// K-nearest query, for BVHs over any objects.
#[derive(Debug)]
pub struct NearestK(ListQuery);

impl NearestK {
    /// Creates the query. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// Creates the query like [`NearestK::new`], but only over objects that your predicate accepts.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        let path = "bvh/query/nearest_k.wgsl";
        Self(ListQuery::new(gpu, path, "nearest_k", &Objects::ALL, predicate))
    }

    /// Adds its kernel for trees over `objects` to the set of pipelines to compile.
    pub fn pipelines(&self, objects: Objects, set: &mut PipelineSet) {
        self.0.pipelines(objects, set);
    }

    /// Marks the points for sorting by Morton codes before each query. This pays off from a few thousand
    /// unordered points on. The results and their order do not change.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the sort buffers exceed the device's limits.
    pub fn sorted(&self, gpu: &Gpu, points: Queries<[f32; 4]>) -> Result<Queries<[f32; 4]>> {
        self.0.sorted(gpu, points)
    }

    /// Records the search for the `k` objects nearest to each of `points`, which are three coordinates and a
    /// search radius each. Writes `k` [`Neighbour`]s per point to `neighbours`, nearest first.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernel was not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        (points, k): (&Queries<[f32; 4]>, u32),
        neighbours: &wgpu::Buffer,
    ) -> Result<()> {
        self.0.record(gpu, recorder, search, points, k, neighbours)
    }

    /// Finds the `k` objects nearest to each of `points`, in the format of [`NearestK::record`], and waits
    /// for them. The first `k` results belong to the first point. Large lists are sorted first
    /// ([`NearestK::sorted`]).
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if points or results exceed the device's limits.
    /// [`Error::Gpu`](crate::Error::Gpu) if the device is lost. Any compilation error.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, points: &[[f32; 4]], k: u32) -> Result<Vec<Neighbour>> {
        self.0.run(gpu, search, points, (k as usize, k))
    }
}
