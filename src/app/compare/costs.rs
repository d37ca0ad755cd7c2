//! Frame costs of the two sides of a comparison: median times of their latest frames.

use crate::{app::schedule::PictureKey, config::Config, profile::table::percentile, render::Channel};
use std::collections::VecDeque;

/// Maximum number of frames in the median. A picture at rest draws at least as many, because its noise is
/// first estimated after this number of samples.
pub(in crate::app) const FRAMES: usize = 12;

/// Latest frame times of a side with its current scene, settings and size.
#[derive(Debug, Default)]
pub(in crate::app) struct SideCosts {
    of: Option<(u64, Config, Channel, [u32; 2])>,
    times_ms: VecDeque<f64>,
}

/// Frame cost of a side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::app) struct Cost {
    /// Median frame time in milliseconds.
    pub(in crate::app) median_ms: f64,
    /// Width and height in pixels that a frame traced and shaded.
    pub(in crate::app) size: [u32; 2],
    /// Time of the fastest frame in milliseconds.
    pub(in crate::app) least_ms: f64,
    /// Time of the slowest frame in milliseconds.
    pub(in crate::app) most_ms: f64,
    /// Number of frames, at most [`FRAMES`].
    pub(in crate::app) frames: usize,
}

impl SideCosts {
    /// Adds a frame of `picture` that traced and shaded `size` pixels in `ms` milliseconds. The previous
    /// times are dropped if the scene, the settings, the channel or the size has changed.
    pub(in crate::app) fn add(&mut self, picture: &PictureKey, size: [u32; 2], ms: f64) {
        let is_same = self.of.as_ref().is_some_and(|(scene, config, channel, of)| {
            (*scene, config, *channel, *of) == (picture.scene, &picture.config, picture.channel, size)
        });
        if !is_same {
            self.times_ms.clear();
            let config = picture.config.clone();
            self.of = Some((picture.scene, config, picture.channel, size));
        }
        self.push(ms);
    }

    fn push(&mut self, ms: f64) {
        if self.times_ms.len() == FRAMES {
            self.times_ms.pop_front();
        }
        self.times_ms.push_back(ms);
    }

    /// Returns the cost of a frame, or `None` before the first frame.
    pub(in crate::app) fn cost(&self) -> Option<Cost> {
        let mut sorted: Vec<f64> = self.times_ms.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        Some(Cost {
            median_ms: percentile(&sorted, 0.5),
            size: self.of.as_ref().map_or([0; 2], |(.., size)| *size),
            least_ms: *sorted.first()?,
            most_ms: *sorted.last()?,
            frames: sorted.len(),
        })
    }
}

/// Returns `costs`, or `None` for both sides while their frames differ in size.
pub(in crate::app) fn comparable(costs: [Option<Cost>; 2]) -> [Option<Cost>; 2] {
    match costs {
        [Some(a), Some(b)] if a.size != b.size => [None; 2],
        costs => costs,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One slow frame, such as the first one, does not change the median. Old frames are dropped.
    #[test]
    fn the_cost_is_the_median_of_recent_frames() {
        let mut costs = SideCosts::default();
        assert_eq!(costs.cost(), None);
        costs.push(12_252.0);
        for ms in [10.0, 11.0, 9.0, 10.0] {
            costs.push(ms);
        }
        let cost = costs.cost().unwrap();
        assert_eq!((cost.median_ms, cost.frames), (10.0, 5));
        assert_eq!([cost.least_ms, cost.most_ms], [9.0, 12_252.0]);
        for _ in 0..FRAMES {
            costs.push(7.0);
        }
        let cost = costs.cost().unwrap();
        assert_eq!([cost.median_ms, cost.most_ms], [7.0, 7.0]);
        assert_eq!(cost.frames, FRAMES);
    }

    /// A frame with other settings drops the earlier ones. A frame at another time continues the series.
    #[test]
    fn frames_with_other_settings_are_dropped() {
        let mut costs = SideCosts::default();
        let mut picture = PictureKey::for_tests();
        costs.add(&picture, [8, 8], 5.0);
        picture.time += 1.0;
        costs.add(&picture, [8, 8], 7.0);
        assert_eq!(costs.cost().unwrap().frames, 2);
        picture.config.tree.leaf_cutoff += 1;
        costs.add(&picture, [8, 8], 9.0);
        let cost = costs.cost().unwrap();
        assert_eq!((cost.median_ms, cost.frames), (9.0, 1));
        // Costs at half as many pixels are not comparable.
        costs.add(&picture, [4, 8], 5.0);
        let half = costs.cost().unwrap();
        assert_eq!((half.median_ms, half.frames), (5.0, 1));
        let (cost, half) = (Some(cost), Some(half));
        assert_eq!(comparable([cost, half]), [None; 2]);
        assert_eq!(comparable([cost, cost]), [cost; 2]);
        assert_eq!(comparable([cost, None]), [cost, None]);
    }
}
