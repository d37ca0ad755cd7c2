//! The times of the passes over the last frames, and their statistics.

use crate::gpu::profiler::PassTiming;
use std::collections::VecDeque;

/// Number of frames that the statistics cover.
const FRAMES: usize = 120;

/// The times of every pass that has run, in the order of the frame. A pass keeps its row while it is not run.
#[derive(Debug, Default)]
pub(super) struct PassHistory {
    rows: Vec<PassRow>,
    /// Number of the frame that was recorded last.
    recorded: u64,
}

/// A pass.
#[derive(Debug)]
pub(super) struct PassRow {
    pub(super) name: String,
    /// How deep it is nested.
    pub(super) depth: usize,
    /// Its time in each of the last frames, the latest last; `None` where it was not run.
    ms: VecDeque<Option<f64>>,
}

/// Statistics of the frames in which a pass was run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PassSummary {
    pub(super) min_ms: f64,
    pub(super) median_ms: f64,
    pub(super) p95_ms: f64,
    pub(super) max_ms: f64,
    /// Its part of the time of all frames.
    pub(super) share: f64,
}

impl PassHistory {
    /// Takes in the times of the frame with this number, unless they are known.
    pub(super) fn record(&mut self, frame: u64, passes: &[PassTiming]) {
        if frame == self.recorded || passes.is_empty() {
            return;
        }
        self.recorded = frame;
        for row in &mut self.rows {
            row.push(None);
        }
        let mut next = 0;
        for pass in passes {
            next = 1 + self.add(pass, next);
        }
    }

    /// Adds the time of a pass to its row, or to a new one at `next`. Returns the row's index.
    fn add(&mut self, pass: &PassTiming, next: usize) -> usize {
        let same = |row: &PassRow| row.name == pass.name && row.depth == pass.depth;
        let index = self.rows.iter().position(same).unwrap_or_else(|| {
            let index = next.min(self.rows.len());
            self.rows.insert(index, PassRow::new(pass));
            index
        });
        if let Some(last) = self.rows[index].ms.back_mut() {
            // A pass may run several times in a frame.
            *last = Some(last.unwrap_or(0.0) + pass.last_ms);
        }
        index
    }

    /// All passes, in the order of the frame.
    pub(super) fn rows(&self) -> &[PassRow] {
        &self.rows
    }

    /// Statistics of a pass, if it was run in the last frames.
    pub(super) fn summary(&self, row: &PassRow) -> Option<PassSummary> {
        let mut known: Vec<f64> = row.ms.iter().flatten().copied().collect();
        known.sort_by(f64::total_cmp);
        let (min_ms, max_ms) = (*known.first()?, *known.last()?);
        let top = self.rows.iter().map(|row| row.depth).min().unwrap_or(0);
        let outermost = self.rows.iter().filter(|row| row.depth == top);
        let all: f64 = outermost.map(PassRow::sum).sum();
        Some(PassSummary {
            min_ms,
            median_ms: percentile(&known, 0.5),
            p95_ms: percentile(&known, 0.95),
            max_ms,
            share: if all > 0.0 { row.sum() / all } else { 0.0 },
        })
    }
}

impl PassRow {
    fn new(pass: &PassTiming) -> Self {
        Self {
            name: pass.name.clone(),
            depth: pass.depth,
            ms: VecDeque::from([None]),
        }
    }

    fn push(&mut self, ms: Option<f64>) {
        if self.ms.len() == FRAMES {
            self.ms.pop_front();
        }
        self.ms.push_back(ms);
    }

    /// Its time in the last frame; `None` if it was not run.
    pub(super) fn last_ms(&self) -> Option<f64> {
        self.ms.back().copied().flatten()
    }

    fn sum(&self) -> f64 {
        self.ms.iter().flatten().sum()
    }
}

/// The nearest-rank percentile of sorted values: the least that a `share` of all does not exceed.
pub(super) fn percentile<T: Copy + Default>(sorted: &[T], share: f64) -> T {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(name: &str, depth: usize, last_ms: f64) -> PassTiming {
        PassTiming {
            name: name.into(),
            depth,
            last_ms,
            average_ms: last_ms,
            spans: Vec::new(),
        }
    }

    fn row<'a>(history: &'a PassHistory, name: &str) -> &'a PassRow {
        history.rows().iter().find(|row| row.name == name).unwrap()
    }

    #[test]
    fn statistics_are_those_of_the_last_frames() {
        let mut history = PassHistory::default();
        // A slow first frame, and more than are remembered.
        history.record(1, &[timing("frame", 0, 1e4), timing("lbvh", 1, 1e4)]);
        for frame in 1..=100_u32 {
            let ms = f64::from(frame);
            let passes = [timing("frame", 0, 2.0 * ms), timing("lbvh", 1, ms)];
            history.record(u64::from(frame) + 1, &passes);
        }
        let slow = history.summary(row(&history, "lbvh")).unwrap();
        assert_eq!((slow.min_ms, slow.median_ms, slow.max_ms), (1.0, 51.0, 1e4));
        for frame in 200..400 {
            history.record(frame, &[timing("frame", 0, 2.0), timing("lbvh", 1, 1.0)]);
        }
        let steady = history.summary(row(&history, "lbvh")).unwrap();
        let expected = PassSummary {
            min_ms: 1.0,
            median_ms: 1.0,
            p95_ms: 1.0,
            max_ms: 1.0,
            share: 0.5,
        };
        assert_eq!(steady, expected);
    }

    #[test]
    fn percentiles_are_values_by_their_rank() {
        let sorted: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&sorted, 0.5), 10.0);
        assert_eq!(percentile(&sorted, 0.95), 19.0);
        assert_eq!(percentile(&sorted, 1.0), 20.0);
        assert_eq!(percentile(&[7.0], 0.05), 7.0);
        assert_eq!(percentile::<f64>(&[], 0.5), 0.0);
    }

    /// A frame that is seen twice counts once, and a pass that is not run keeps its row.
    #[test]
    fn rows_stay_in_the_order_of_the_frame() {
        let mut history = PassHistory::default();
        let names = |history: &PassHistory| -> Vec<String> {
            history.rows().iter().map(|row| row.name.clone()).collect()
        };
        let whole = [
            timing("frame", 0, 9.0),
            timing("lbvh", 1, 4.0),
            timing("fog", 1, 3.0),
        ];
        history.record(1, &whole);
        history.record(1, &whole);
        history.record(2, &[timing("frame", 0, 3.0), timing("fog", 1, 3.0)]);
        assert_eq!(names(&history), ["frame", "lbvh", "fog"]);
        assert_eq!(row(&history, "lbvh").last_ms(), None);
        assert_eq!(row(&history, "lbvh").ms.len(), 2);
        assert_eq!(
            history.summary(row(&history, "lbvh")).unwrap().median_ms,
            4.0
        );
        let more = [
            timing("frame", 0, 9.0),
            timing("shadows", 1, 1.0),
            timing("fog", 1, 1.0),
        ];
        history.record(3, &more);
        assert_eq!(names(&history), ["frame", "shadows", "lbvh", "fog"]);
        // Several runs in a frame are one time.
        history.record(4, &[timing("fog", 1, 1.0), timing("fog", 1, 2.0)]);
        assert_eq!(row(&history, "fog").last_ms(), Some(3.0));
    }
}
