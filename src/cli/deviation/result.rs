//! Result of `canopy deviation`.

use super::surface::Surface;
use crate::{
    Result,
    gpu::Gpu,
    output::numbers,
    render::inspect::compared_tree::Batches,
    scene::deviation::{NearestSample, Statistics},
};

/// Distances of A from B, and of B from A if requested.
#[derive(Debug)]
pub(super) struct Deviation<'a> {
    pub(super) a: &'a Surface,
    pub(super) b: &'a Surface,
    pub(super) tolerance: Option<f64>,
    pub(super) vertices: Vec<NearestSample>,
    pub(super) statistics: Statistics,
    /// Statistics of B, measured from A.
    pub(super) back: Option<Statistics>,
}

impl<'a> Deviation<'a> {
    /// Measures A from B, with about `samples` samples between its vertices. With `both`, also measures B
    /// from A.
    pub(super) fn new(
        gpu: &Gpu,
        a: &'a Surface,
        b: &'a Surface,
        tolerance: Option<f64>,
        samples: u32,
        both: bool,
    ) -> Result<Self> {
        let measure = |of: &Surface, from: &Surface| {
            let of = (&of.tree.compared.positions[..], of.triangles());
            from.tree.measure(gpu, of, samples, tolerance, &Batches::large())
        };
        let there = measure(a, b)?;
        let back = both.then(|| measure(b, a)).transpose()?;
        Ok(Self {
            a,
            b,
            tolerance,
            vertices: there.vertices,
            statistics: there.statistics,
            back: back.map(|measured| measured.statistics),
        })
    }

    /// Logs a warning for each open surface that distances are measured to, because their sign is unreliable.
    pub(super) fn warn(&self) {
        let measured_from = [self.b].into_iter().chain(self.back.as_ref().map(|_| self.a));
        for surface in measured_from.filter(|surface| surface.signed().open_edges() > 0) {
            log::warn!(
                "{}: the surface is open ({} edges), so the sign of a distance is unreliable",
                surface.path.display(),
                numbers::grouped(surface.signed().open_edges() as u64)
            );
        }
    }

    /// Returns the distance in metres at the end of the colour range: the tolerance, or the largest distance.
    pub(super) fn range(&self) -> f64 {
        self.tolerance.unwrap_or(self.statistics.largest())
    }
}
