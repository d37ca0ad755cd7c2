//! `sweep`: finds the first contact of each moving capsule or ball of a list. To use it in your own kernels,
//! import `bvh/bvh_sweep.wgsl`.

pub use super::layout::{Contact, Sweep};
use super::{
    layout::Objects,
    query_list::{PositionedQuery, Queries},
    search::{ListQuery, Predicate, Search},
};
use crate::{
    Result,
    gpu::{Gpu, PipelineSet, Recorder},
};

/// Sweeps are sorted by their start positions.
impl PositionedQuery for Sweep {
    const SECOND_POSITION_ROW: Option<u32> = Some(0);
}

/// Sweep query, for BVHs over any objects.
#[derive(Debug)]
pub struct Sweeps(ListQuery);

impl Sweeps {
    /// Creates the query. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// Creates the query like [`Sweeps::new`], but only over objects that your predicate accepts.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        Self(ListQuery::new(
            gpu,
            "bvh/query/sweep.wgsl",
            "sweep",
            &Objects::ALL,
            predicate,
        ))
    }

    /// Adds its kernel for trees over `objects` to the set of pipelines to compile.
    pub fn pipelines(&self, objects: Objects, set: &mut PipelineSet) {
        self.0.pipelines(objects, set);
    }

    /// Marks the sweeps for sorting by the Morton codes of their start positions before each query. This pays
    /// off from a few thousand unordered sweeps on. The results and their order do not change.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the sort buffers exceed the device's limits.
    pub fn sorted(&self, gpu: &Gpu, sweeps: Queries<Sweep>) -> Result<Queries<Sweep>> {
        self.0.sorted(gpu, sweeps)
    }

    /// Records the query for `sweeps`, and writes a [`Contact`] per sweep to `contacts`. An object that a
    /// capsule touches at the start counts only if the capsule moves closer to it. So a capsule can slide
    /// along a wall or leave it.
    ///
    /// # Errors
    ///
    /// A compilation error, if the kernel was not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        sweeps: &Queries<Sweep>,
        contacts: &wgpu::Buffer,
    ) -> Result<()> {
        self.0.record(gpu, recorder, search, sweeps, 0, contacts)
    }

    /// Finds the first contact of each of `sweeps`, and waits for the results. Large lists are sorted first
    /// ([`Sweeps::sorted`]).
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if sweeps or results exceed the device's limits.
    /// [`Error::Gpu`](crate::Error::Gpu) if the device is lost. Any compilation error.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, sweeps: &[Sweep]) -> Result<Vec<Contact>> {
        self.0.run(gpu, search, sweeps, (1, 0))
    }
}
