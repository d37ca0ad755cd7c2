//! Statistics of the distances that were measured from a surface.

use super::{signed_surface::SignedNearest, surface_points::SurfacePoint};
use glam::DVec3;

/// Default number of sample points on a surface.
pub const SAMPLES: u32 = 200_000;
/// Number of histogram bins.
const BINS: usize = 40;

/// Sample point of one surface and its nearest point on another.
#[derive(Debug, Clone, Copy)]
pub struct NearestSample {
    /// Sample point.
    pub point: SurfacePoint,
    /// Nearest point on the other surface.
    pub nearest: SignedNearest,
}

/// Statistics of a surface's signed distances. Means and fractions are weighted by area.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Number of sample points, excluding the vertices.
    pub samples: usize,
    /// Smallest signed distance, over vertices and samples.
    pub min: Extreme,
    /// Largest signed distance, over vertices and samples.
    pub max: Extreme,
    /// Mean of the signed distance in metres.
    pub mean: f64,
    /// Root mean square of the distance in metres.
    pub rms: f64,
    /// Fractions of the area out of tolerance, if there is a tolerance.
    pub out: Option<OutOfTolerance>,
    /// Fraction of the area in each histogram bin. Bins have equal widths.
    pub histogram: Vec<f64>,
}

/// Fractions of a surface's area whose distance exceeds the tolerance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutOfTolerance {
    /// Largest accepted absolute distance, in metres.
    pub tolerance: f64,
    /// Fraction of the area below −`tolerance`.
    pub below: f64,
    /// Fraction of the area above `tolerance`.
    pub above: f64,
}

/// Point with the smallest or largest distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme {
    /// Signed distance in metres.
    pub distance: f64,
    /// World position in metres.
    pub position: DVec3,
    /// Index of the triangle that it lies on.
    pub triangle: u32,
    /// Nearest point on the other surface, in world space.
    pub nearest: DVec3,
}

impl Statistics {
    /// Computes the statistics of `vertices` and `samples`, which must not both be empty. `tolerance` is in
    /// metres.
    pub fn new(vertices: &[NearestSample], samples: &[NearestSample], tolerance: Option<f64>) -> Self {
        let all = || vertices.iter().chain(samples);
        let extreme = |sign: f64| {
            let least = all().min_by(|a, b| {
                let [a, b] = [a, b].map(|m| sign * m.nearest.distance);
                a.total_cmp(&b)
            });
            Extreme::of(least)
        };
        let (min, max) = (extreme(1.0), extreme(-1.0));
        let area: f64 = samples.iter().map(|m| m.point.area).sum();
        // If the total area is zero, all samples have equal weight.
        let weight = |m: &NearestSample| match area > 0.0 {
            true => m.point.area / area,
            false => 1.0 / samples.len() as f64,
        };
        let mean_of = |value: &dyn Fn(f64) -> f64| -> f64 {
            let values = samples.iter().map(|m| weight(m) * value(m.nearest.distance));
            values.sum()
        };
        let share = |is_in: &dyn Fn(f64) -> bool| mean_of(&|d| f64::from(u8::from(is_in(d))));
        let mut histogram = vec![0.0; BINS];
        for measured in samples {
            let along = (measured.nearest.distance - min.distance) / (max.distance - min.distance);
            // If all distances are equal, they fall into the first bin.
            let bin = if along > 0.0 {
                (along * BINS as f64) as usize
            } else {
                0
            };
            histogram[bin.min(BINS - 1)] += weight(measured);
        }
        Self {
            samples: samples.len(),
            min,
            max,
            mean: mean_of(&|d| d),
            rms: mean_of(&|d| d * d).sqrt(),
            out: tolerance.map(|tolerance| OutOfTolerance {
                tolerance,
                below: share(&|d| d < -tolerance),
                above: share(&|d| d > tolerance),
            }),
            histogram,
        }
    }

    /// Returns the edges of the histogram bins in metres, one more than there are bins.
    pub fn edges(&self) -> impl Iterator<Item = f64> {
        let (low, high, bins) = (self.min.distance, self.max.distance, self.histogram.len());
        (0..=bins).map(move |i| low + (high - low) * i as f64 / bins as f64)
    }

    /// Returns the largest absolute distance.
    pub fn largest(&self) -> f64 {
        self.min.distance.abs().max(self.max.distance.abs())
    }
}

impl OutOfTolerance {
    /// Returns the fraction of the area that is out of tolerance.
    pub fn share(&self) -> f64 {
        self.below + self.above
    }
}

impl Extreme {
    fn of(measured: Option<&NearestSample>) -> Self {
        let nowhere = Self {
            distance: 0.0,
            position: DVec3::ZERO,
            triangle: 0,
            nearest: DVec3::ZERO,
        };
        measured.map_or(nowhere, |m| Self {
            distance: m.nearest.distance,
            position: m.point.position.as_dvec3(),
            triangle: m.point.triangle,
            nearest: m.nearest.position,
        })
    }
}
