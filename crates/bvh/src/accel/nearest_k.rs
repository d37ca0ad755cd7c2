//! `nearest_k`: the objects that are nearest to each point of a list.

pub use super::layout::Neighbour;
use super::{
    layout::Objects,
    query_list::Queries,
    search::{ListQuery, Predicate, Search},
};
use crate::{
    Result,
    gpu::{Gpu, Needs, Recorder},
};

/// The query, for trees over any objects.
#[derive(Debug)]
pub struct NearestK(ListQuery);

impl NearestK {
    /// The query, compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// As [`NearestK::new`], for objects that a predicate of the caller's accepts.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        let path = "bvh/query/nearest_k.wgsl";
        Self(ListQuery::new(gpu, path, "nearest_k", &Objects::ALL, predicate))
    }

    /// Adds its kernel for trees over `objects` to what has to be compiled.
    pub fn needs(&self, objects: Objects, needs: &mut Needs) {
        self.0.needs(objects, needs);
    }

    /// The same points, for queries that begin with a sort by Morton codes. It pays from some thousand on that are in no
    /// order; what is found is the same, in the same places.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold the order.
    pub fn sorted(&self, gpu: &Gpu, points: Queries<[f32; 4]>) -> Result<Queries<[f32; 4]>> {
        self.0.sorted(gpu, points)
    }

    /// Records the search for the `k` objects nearest to each of `points`, three coordinates and how far from there is
    /// looked, into `neighbours`: `k` [`Neighbour`]s a point, the nearest first.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
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

    /// Finds the `k` objects nearest to each of `points`, as for [`NearestK::record`], and waits for them: the
    /// first `k` results are those of the first point. Many are sorted first ([`NearestK::sorted`]).
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold points or results; those of
    /// compiling; [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, points: &[[f32; 4]], k: u32) -> Result<Vec<Neighbour>> {
        self.0.run(gpu, search, points, (k as usize, k))
    }
}
