//! `sweep`: the first contact of each moving capsule or ball of a list. Kernels of your own import
//! `common/bvh_sweep.wgsl`.

pub use super::layout::{Contact, Sweep};
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
            "accel/sweep.wgsl",
            "sweep",
            &Objects::ALL,
            predicate,
        ))
    }

    /// Adds its kernel for trees over `objects` to what has to be compiled.
    pub fn needs(&self, objects: Objects, needs: &mut Needs) {
        self.0.needs(objects, needs);
    }

    /// Records the first `count` of `sweeps` ([`Sweep`]), each with a [`Contact`] in `contacts`. What a capsule
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
        count: u32,
        sweeps: &wgpu::Buffer,
        contacts: &wgpu::Buffer,
    ) -> Result<()> {
        self.0
            .record(gpu, recorder, search, [count, 0], sweeps, contacts)
    }

    /// Finds the first contact of each of `sweeps`, and waits for it.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold sweeps or results; those of
    /// compiling; [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, sweeps: &[Sweep]) -> Result<Vec<Contact>> {
        self.0.run(gpu, search, sweeps, (1, 0))
    }
}
