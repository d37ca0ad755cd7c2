//! `nearest_k`: the objects that are nearest to each point of a list.

pub use super::layout::Neighbour;
use super::{
    layout::Objects,
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
        let path = "accel/nearest_k.wgsl";
        Self(ListQuery::new(
            gpu,
            path,
            "nearest_k",
            &Objects::ALL,
            predicate,
        ))
    }

    /// Adds its kernel for trees over `objects` to what has to be compiled.
    pub fn needs(&self, objects: Objects, needs: &mut Needs) {
        self.0.needs(objects, needs);
    }

    /// Records the search for the `k` objects nearest to each of the first `count` of `points`, three coordinates
    /// each and how far from there is looked, into `neighbours`: `k` [`Neighbour`]s a point, the nearest first.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        [count, k]: [u32; 2],
        points: &wgpu::Buffer,
        neighbours: &wgpu::Buffer,
    ) -> Result<()> {
        self.0
            .record(gpu, recorder, search, [count, k], points, neighbours)
    }

    /// Finds the `k` objects nearest to each of `points`, as for [`NearestK::record`], and waits for them: the
    /// first `k` results are those of the first point.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold points or results; those of
    /// compiling; [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn run(
        &self,
        gpu: &Gpu,
        search: &Search<'_>,
        points: &[[f32; 4]],
        k: u32,
    ) -> Result<Vec<Neighbour>> {
        self.0.run(gpu, search, points, (k as usize, k))
    }
}
