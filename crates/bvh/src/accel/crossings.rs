//! `crossings`: through how many triangles each ray of a list passes, front or back, which tells the inside of a
//! closed surface. Kernels of your own import `bvh/bvh_crossings.wgsl`.

pub use super::layout::Crossings;
use super::{
    layout::{Objects, Ray},
    query_list::{Placed, Queries},
    search::{ListQuery, Predicate, Search},
};
use crate::{
    Result,
    gpu::{Gpu, Needs, Recorder},
};

impl Crossings {
    /// All triangles that the ray passes through.
    pub fn hits(&self) -> u32 {
        self.fronts + self.backs
    }

    /// Whether a ray without an end began inside of closed surfaces: it leaves more than it enters.
    pub fn is_inside(&self) -> bool {
        self.backs > self.fronts
    }
}

/// Sorted by where they start.
impl Placed for Ray {
    const FAR_ROW: Option<u32> = Some(0);
}

/// The query, for trees over triangles.
#[derive(Debug)]
pub struct RayCrossings(ListQuery);

impl RayCrossings {
    /// The query, compiled when it is first needed.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// As [`RayCrossings::new`], for triangles that a predicate of the caller's accepts.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        let (path, entry) = ("bvh/query/crossings.wgsl", "crossings");
        Self(ListQuery::new(gpu, path, entry, &[Objects::Triangles], predicate))
    }

    /// Adds its kernel to what has to be compiled.
    pub fn needs(&self, needs: &mut Needs) {
        self.0.needs(Objects::Triangles, needs);
    }

    /// The same rays, for queries that begin with a sort by Morton codes of where they start. It pays from some thousand on that are in no
    /// order; what is found is the same, in the same places.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold the order.
    pub fn sorted(&self, gpu: &Gpu, rays: Queries<Ray>) -> Result<Queries<Ray>> {
        self.0.sorted(gpu, rays)
    }

    /// Records `rays`, each with its [`Crossings`] in `found`.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`](crate::Error::Tree) for a tree over other objects; those of compiling the kernel, where it
    /// was not compiled before.
    pub fn record(
        &self,
        gpu: &Gpu,
        recorder: &mut impl Recorder,
        search: &Search<'_>,
        rays: &Queries<Ray>,
        found: &wgpu::Buffer,
    ) -> Result<()> {
        self.0.record(gpu, recorder, search, rays, 0, found)
    }

    /// Counts what each of `rays` passes through, and waits for it. Many are sorted first ([`RayCrossings::sorted`]).
    ///
    /// # Errors
    ///
    /// As [`RayCrossings::record`]; [`Error::Limit`](crate::Error::Limit) where the device's limits do not hold
    /// rays or results; [`Error::Gpu`](crate::Error::Gpu) where the device is lost.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, rays: &[Ray]) -> Result<Vec<Crossings>> {
        self.0.run(gpu, search, rays, (1, 0))
    }
}
