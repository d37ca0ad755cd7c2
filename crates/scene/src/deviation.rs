//! Figures of the distances that were measured of a surface.

use super::{signed_surface::SignedNearest, surface_points::SurfacePoint};
use glam::DVec3;

/// Points spread over a surface, unless another number is asked for.
pub const SAMPLES: u32 = 200_000;
/// Bins of a histogram.
const BINS: usize = 40;

/// A point of one surface, and where another is nearest to it.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    /// The point.
    pub point: SurfacePoint,
    /// Of the other surface.
    pub nearest: SignedNearest,
}

/// Figures of a surface's signed distances. Means and shares are by area.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Points beside the vertices.
    pub samples: usize,
    /// The smallest distance, of vertices and samples.
    pub min: Extreme,
    /// The largest one.
    pub max: Extreme,
    /// Mean of the signed distance in metres.
    pub mean: f64,
    /// Root of the mean square in metres.
    pub rms: f64,
    /// The tolerance in metres, and the shares of the area below and above it.
    pub out: Option<OutOfTolerance>,
    /// Shares of the area between the edges of bins of equal width.
    pub histogram: Vec<f64>,
}

/// How much of a surface is farther than it may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutOfTolerance {
    /// The largest distance of either sign that is within it, in metres.
    pub tolerance: f64,
    /// Share of the area that lies below.
    pub below: f64,
    /// Share of the area that lies above.
    pub above: f64,
}

/// A point where a distance is smallest or largest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Extreme {
    /// Signed, in metres.
    pub distance: f64,
    /// World position in metres.
    pub position: DVec3,
    /// The triangle that it lies on.
    pub triangle: u32,
    /// Where the other surface is nearest.
    pub nearest: DVec3,
}

impl Statistics {
    /// Figures of `vertices` and `samples`, of which there is at least one, against `tolerance` in metres.
    pub fn new(vertices: &[Measured], samples: &[Measured], tolerance: Option<f64>) -> Self {
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
        // Triangles without an area count alike.
        let weight = |m: &Measured| match area > 0.0 {
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
            // Where all distances are the same, they are in the first bin.
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

    /// The edges of the histogram's bins in metres, one more than there are bins.
    pub fn edges(&self) -> impl Iterator<Item = f64> {
        let (low, high, bins) = (self.min.distance, self.max.distance, self.histogram.len());
        (0..=bins).map(move |i| low + (high - low) * i as f64 / bins as f64)
    }

    /// The larger of the distances at both ends, without their signs.
    pub fn largest(&self) -> f64 {
        self.min.distance.abs().max(self.max.distance.abs())
    }
}

impl OutOfTolerance {
    /// Share of the area that is below or above.
    pub fn share(&self) -> f64 {
        self.below + self.above
    }
}

impl Extreme {
    fn of(measured: Option<&Measured>) -> Self {
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
