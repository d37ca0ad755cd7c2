//! `sweep`: the first contact of each moving capsule or ball of a list. Kernels of your own import
//! `bvh/bvh_sweep.wgsl`.

pub use super::layout::{Contact, Sweep};
use super::{
    layout::Objects,
    query_list::{Placed, Queries},
    search::{ListQuery, Predicate, Search},
};
use crate::{
    Result,
    gpu::{Gpu, Needs, Recorder},
};

/// Sorted by where they start.
impl Placed for Sweep {
    const FAR_ROW: Option<u32> = Some(0);
}

/// The query, for trees over any objects.
#[derive(Debug)]
pub struct Sweeps(ListQuery);

impl Sweeps {
    /// The query, compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// As [`Sweeps::new`], for objects that a predicate of the caller's accepts.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        Self(ListQuery::new(
            gpu,
            "bvh/query/sweep.wgsl",
            "sweep",
            &Objects::ALL,
            predicate,
        ))
    }

    /// Adds its kernel for trees over `objects` to what has to be compiled.
    pub fn needs(&self, objects: Objects, needs: &mut Needs) {
        self.0.needs(objects, needs);
    }

    /// The same sweeps, for queries that begin with a sort by Morton codes of where they start. It pays from some thousand on that are in no
    /// order; what is found is the same, in the same places.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold the order.
    pub fn sorted(&self, gpu: &Gpu, sweeps: Queries<Sweep>) -> Result<Queries<Sweep>> {
        self.0.sorted(gpu, sweeps)
    }

    /// Records `sweeps`, each with a [`Contact`] in `contacts`. What a capsule
    /// touches at the start counts only where it gets nearer: so one that slides along a wall, or leaves it, is
    /// free to.
    ///
    /// # Errors
    ///
    /// Those of compiling the kernel, where it was not compiled before.
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

    /// Finds the first contact of each of `sweeps`, and waits for it. Many are sorted first
    /// ([`Sweeps::sorted`]).
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold sweeps or results; those of
    /// compiling; [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, sweeps: &[Sweep]) -> Result<Vec<Contact>> {
        self.0.run(gpu, search, sweeps, (1, 0))
    }
}
