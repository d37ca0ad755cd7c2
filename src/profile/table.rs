//! Times of a profile by pass, with statistics.

use super::history::Frame;

/// Table of times over a range of frames.
#[derive(Debug, Default, PartialEq)]
pub struct Table {
    /// GPU passes, in the order of the frame.
    pub gpu: Vec<Row>,
    /// CPU work, in the order of the frame.
    pub cpu: Vec<Row>,
    /// Number of frames.
    pub frames: usize,
}

/// A GPU pass or a part of the CPU work.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the pass or of the CPU work.
    pub name: String,
    /// Nesting depth in the frame, from 0.
    pub depth: usize,
    /// Milliseconds in each frame, or `None` if it did not run. Several runs in a frame are added.
    pub ms: Vec<Option<f64>>,
}

/// Statistics of a list of times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Minimum.
    pub min_ms: f64,
    /// Median.
    pub median_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Maximum.
    pub max_ms: f64,
}

impl Summary {
    /// Computes statistics of `times`, which are in milliseconds. Returns `None` if there are none.
    pub fn of(times: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = times.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        Some(Self {
            min_ms: *sorted.first()?,
            median_ms: percentile(&sorted, 0.5),
            p95_ms: percentile(&sorted, 0.95),
            p99_ms: percentile(&sorted, 0.99),
            max_ms: *sorted.last()?,
        })
    }

    /// Returns all values, in the order of the fields.
    pub fn all(self) -> [f64; 5] {
        [self.min_ms, self.median_ms, self.p95_ms, self.p99_ms, self.max_ms]
    }
}

impl Table {
    /// Builds the table of `frames`.
    pub fn of<'a>(frames: impl IntoIterator<Item = &'a Frame>) -> Self {
        let mut table = Self::default();
        for frame in frames {
            let index = table.frames;
            table.frames += 1;
            let mut next = 0;
            for pass in frame.passes() {
                next = 1 + add(
                    &mut table.gpu,
                    next,
                    (&pass.name, pass.depth),
                    index,
                    pass.last_ms,
                );
            }
            next = 0;
            for span in &frame.cpu {
                next = 1 + add(&mut table.cpu, next, (span.name, 0), index, span.ms);
            }
        }
        let frames = table.frames;
        for row in table.gpu.iter_mut().chain(&mut table.cpu) {
            row.ms.resize(frames, None);
        }
        table
    }

    /// Returns the passes directly below the frame. Their times add up to approximately the frame's.
    pub fn top(&self) -> impl Iterator<Item = &Row> {
        self.gpu.iter().filter(|row| row.depth == 1)
    }

    /// Returns the time of a GPU row as a fraction of the GPU time of all frames.
    pub fn share(&self, row: &Row) -> f64 {
        let outermost = self.gpu.iter().filter(|row| row.depth == 0);
        let all: f64 = outermost.map(Row::sum).sum();
        if all > 0.0 { row.sum() / all } else { 0.0 }
    }

    /// Returns the milliseconds of GPU pass `index` outside its nested passes, summed over all frames.
    /// Returns `None` if it has no nested passes.
    pub fn between(&self, index: usize) -> Option<f64> {
        let group = self.gpu.get(index)?;
        let inside = self.gpu[index + 1..].iter();
        let inside = inside.take_while(|row| row.depth > group.depth);
        let nested = inside.filter(|row| row.depth == group.depth + 1);
        let (count, sum) = nested.fold((0, 0.0), |(count, sum), row| (count + 1, sum + row.sum()));
        (count > 0).then(|| (group.sum() - sum).max(0.0))
    }

    /// Returns the full paths of nested passes, such as `frame/lbvh/sort`.
    pub fn gpu_paths(&self) -> Vec<String> {
        let mut stack: Vec<&str> = Vec::new();
        let mut paths = Vec::with_capacity(self.gpu.len());
        for row in &self.gpu {
            stack.truncate(row.depth);
            stack.push(&row.name);
            paths.push(stack.join("/"));
        }
        paths
    }
}

/// Adds the time of a pass to its row, or inserts a row at `next`. Returns the row's index.
fn add(rows: &mut Vec<Row>, next: usize, (name, depth): (&str, usize), frame: usize, ms: f64) -> usize {
    let same = |row: &Row| row.depth == depth && row.name == name;
    let next = next.min(rows.len());
    // Passes usually run in the same order in every frame, so the next row is tried first.
    let found = match rows.get(next).is_some_and(same) {
        true => Some(next),
        false => rows.iter().position(same),
    };
    let index = found.unwrap_or_else(|| {
        let row = Row {
            name: name.into(),
            depth,
            ms: Vec::new(),
        };
        rows.insert(next, row);
        next
    });
    let times = &mut rows[index].ms;
    times.resize(frame + 1, None);
    times[frame] = Some(times[frame].unwrap_or(0.0) + ms);
    index
}

impl Row {
    /// Returns statistics over the frames in which it ran.
    pub fn summary(&self) -> Option<Summary> {
        Summary::of(self.ms.iter().flatten().copied())
    }

    /// Returns its time in the last frame in milliseconds, or `None` if it did not run.
    pub fn last_ms(&self) -> Option<f64> {
        self.ms.last().copied().flatten()
    }

    /// Returns the number of frames in which it ran.
    pub fn runs(&self) -> usize {
        self.ms.iter().flatten().count()
    }

    /// Returns its mean in milliseconds over all frames, including those in which it did not run. Otherwise
    /// the means of nested passes could add up to more than the mean of their parent.
    pub fn mean_ms(&self) -> f64 {
        self.sum() / self.ms.len().max(1) as f64
    }

    /// Returns its total time over all frames in milliseconds.
    pub fn sum(&self) -> f64 {
        self.ms.iter().flatten().sum()
    }
}

/// Returns the nearest-rank percentile of sorted values: the smallest value such that at least a `share` of
/// all values does not exceed it.
pub fn percentile<T: Copy + Default>(sorted: &[T], share: f64) -> T {
    let rank = (share * sorted.len() as f64).ceil().max(1.0) as usize;
    sorted.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::profiler::{PassTiming, TimedFrame};
    use crate::profile::history::{
        History,
        samples::{frames, pass},
    };

    fn history(frames: &[&[PassTiming]]) -> History {
        let mut history = History::new(600);
        for (number, passes) in (1..).zip(frames) {
            history.push(number, 0.0);
            let passes = passes.to_vec();
            history.timed(TimedFrame { number, passes }.into());
        }
        history
    }

    fn row<'a>(table: &'a Table, name: &str) -> &'a Row {
        table.gpu.iter().find(|row| row.name == name).unwrap()
    }

    #[test]
    fn percentiles_are_values_by_their_rank() {
        let sorted: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(percentile(&sorted, 0.5), 10.0);
        assert_eq!(percentile(&sorted, 0.95), 19.0);
        assert_eq!(percentile(&sorted, 1.0), 20.0);
        assert_eq!(percentile(&[7.0], 0.05), 7.0);
        assert_eq!(percentile::<f64>(&[], 0.5), 0.0);
        let summary = Summary::of((1..=200).rev().map(f64::from)).unwrap();
        let of = [summary.min_ms, summary.median_ms, summary.p95_ms];
        assert_eq!(of, [1.0, 100.0, 190.0]);
        assert_eq!([summary.p99_ms, summary.max_ms], [198.0, 200.0]);
        assert_eq!(Summary::of([]), None);
    }

    /// The nested passes and the time between them sum to their parent.
    #[test]
    fn time_between_nested_passes_is_reported() {
        let whole = pass("frame", 0, 0.0, 10.0);
        let [fog, lbvh] = [("fog", 3.0), ("lbvh", 4.0)].map(|(name, ms)| pass(name, 1, 0.0, ms));
        let sort = pass("sort", 2, 0.0, 4.0);
        let history = history(&[&[whole.clone(), fog, lbvh, sort], &[whole]]);
        let table = Table::of(history.frames());
        let between: Vec<_> = (0..5).map(|index| table.between(index)).collect();
        assert_eq!(between, [Some(13.0), None, Some(0.0), None, None]);
        let means = ["frame", "fog", "lbvh"].map(|name| row(&table, name).mean_ms());
        assert_eq!(means, [10.0, 1.5, 2.0]);
        assert_eq!(row(&table, "fog").runs(), 1);
    }

    /// A pass that does not run keeps its row, and several runs in a frame are added.
    #[test]
    fn rows_keep_the_order_of_passes_in_the_frame() {
        let names = |table: &Table| -> Vec<String> { table.gpu.iter().map(|row| row.name.clone()).collect() };
        let [frame, lbvh, fog] = ["frame", "lbvh", "fog"].map(|name| {
            let depth = usize::from(name != "frame");
            pass(name, depth, 0.0, 3.0)
        });
        let shadows = pass("shadows", 1, 0.0, 1.0);
        let whole: &[_] = &[frame.clone(), lbvh, fog.clone()];
        let history = history(&[
            whole,
            &[frame.clone(), fog.clone()],
            &[frame, shadows, fog.clone(), fog],
        ]);
        let table = Table::of(history.frames());
        assert_eq!(names(&table), ["frame", "shadows", "lbvh", "fog"]);
        assert_eq!(row(&table, "lbvh").ms, [Some(3.0), None, None]);
        assert_eq!(row(&table, "lbvh").last_ms(), None);
        assert_eq!(row(&table, "fog").last_ms(), Some(6.0));
        assert_eq!(row(&table, "shadows").ms, [None, None, Some(1.0)]);
        assert_eq!(table.share(row(&table, "fog")), 12.0 / 9.0);
    }

    #[test]
    fn pass_paths_name_the_enclosing_passes() {
        let frames = frames();
        let table = Table::of(&frames);
        let expected = [
            "frame",
            "frame/deform",
            "frame/lbvh",
            "frame/lbvh/sort",
            "frame/shadows",
        ];
        assert_eq!(table.gpu_paths(), expected);
        let cpu: Vec<_> = table.cpu.iter().map(|row| &row.name[..]).collect();
        assert_eq!(cpu, ["panel", "record", "submit"]);
        assert_eq!(Table::of([]), Table::default());
    }
}
