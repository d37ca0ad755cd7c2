//! `crossings`: counts the front and back faces that each ray of a list passes through. The counts tell if a
//! point is inside a closed surface. To use it in your own kernels, import `bvh/bvh_crossings.wgsl`.

pub use super::layout::Crossings;
use super::{
    layout::{Objects, Ray},
    query_list::{PositionedQuery, Queries},
    search::{ListQuery, Predicate, Search},
};
use crate::{
    Result,
    gpu::{Gpu, PipelineSet, Recorder},
};

impl Crossings {
    /// Returns the number of triangles that the ray passes through.
    pub fn hits(&self) -> u32 {
        self.fronts + self.backs
    }

    /// True if an infinite ray starts inside closed surfaces, because it leaves more often than it enters.
    pub fn is_inside(&self) -> bool {
        self.backs > self.fronts
    }
}

/// Rays are sorted by their origin.
impl PositionedQuery for Ray {
    const SECOND_POSITION_ROW: Option<u32> = Some(0);
}

/// Crossing query, for BVHs over triangles.
#[derive(Debug)]
pub struct RayCrossings(ListQuery);

impl RayCrossings {
    /// Creates the query. Its kernels are compiled on first use.
    pub fn new(gpu: &Gpu) -> Self {
        Self::with_predicate(gpu, None)
    }

    /// Creates the query like [`RayCrossings::new`], but only over triangles that your predicate accepts.
    pub fn with_predicate(gpu: &Gpu, predicate: Option<&Predicate>) -> Self {
        let (path, entry) = ("bvh/query/crossings.wgsl", "crossings");
        Self(ListQuery::new(gpu, path, entry, &[Objects::Triangles], predicate))
    }

    /// Adds its kernel to the set of pipelines to compile.
    pub fn pipelines(&self, set: &mut PipelineSet) {
        self.0.pipelines(Objects::Triangles, set);
    }

    /// Marks the rays for sorting by the Morton codes of their origins before each query. This pays off from
    /// a few thousand unordered rays on. The results and their order do not change.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`](crate::Error::Limit) if the sort buffers exceed the device's limits.
    pub fn sorted(&self, gpu: &Gpu, rays: Queries<Ray>) -> Result<Queries<Ray>> {
        self.0.sorted(gpu, rays)
    }

    /// Records the query for `rays`, and writes a [`Crossings`] per ray to `found`.
    ///
    /// # Errors
    ///
    /// [`Error::Tree`](crate::Error::Tree) for a tree over other objects. A compilation error, if the kernel
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

    /// Counts the crossings of each of `rays`, and waits for the result. Large lists are sorted first
    /// ([`RayCrossings::sorted`]).
    ///
    /// # Errors
    ///
    /// Any error of [`RayCrossings::record`]. [`Error::Limit`](crate::Error::Limit) if rays or results exceed
    /// the device's limits. [`Error::Gpu`](crate::Error::Gpu) if the device is lost.
    pub fn run(&self, gpu: &Gpu, search: &Search<'_>, rays: &[Ray]) -> Result<Vec<Crossings>> {
        self.0.run(gpu, search, rays, (1, 0))
    }
}
