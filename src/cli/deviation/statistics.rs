//! What the distances of a surface come to.

use super::measure::Measured;
use glam::DVec3;

/// Bins of a histogram.
const BINS: usize = 40;

/// Figures of a surface's signed distances. Means and shares are by area.
#[derive(Debug)]
pub(super) struct Statistics {
    /// Points beside the vertices.
    pub(super) samples: usize,
    pub(super) min: Extreme,
    pub(super) max: Extreme,
    pub(super) mean: f64,
    pub(super) rms: f64,
    /// Shares of the area below and above the tolerance.
    pub(super) out: Option<[f64; 2]>,
    /// Shares of the area between the edges of bins of equal width.
    pub(super) histogram: Vec<f64>,
}

/// A point where a distance is smallest or largest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extreme {
    pub(super) distance: f64,
    pub(super) position: DVec3,
    /// The triangle that it lies on.
    pub(super) triangle: u32,
    pub(super) nearest: DVec3,
}

impl Statistics {
    /// Figures of `vertices` and `samples`, of which there is at least one.
    pub(super) fn new(vertices: &[Measured], samples: &[Measured], tolerance: Option<f64>) -> Self {
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
            let values = samples
                .iter()
                .map(|m| weight(m) * value(m.nearest.distance));
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
            out: tolerance.map(|t| [share(&|d| d < -t), share(&|d| d > t)]),
            histogram,
        }
    }

    /// The larger of the distances at both ends, without their signs.
    pub(super) fn largest(&self) -> f64 {
        self.min.distance.abs().max(self.max.distance.abs())
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
