//! Repeated timings of GPU work, and their statistics.

use super::copy::Copy;
use crate::{
    Error, Result,
    gpu::{
        Gpu, Recorder,
        profiler::{PassTiming, Profiler, Scope, Stopwatch},
    },
};
use serde_json::{Value, json};

/// Minimum and maximum number of repetitions, if their time decides the number.
const SAMPLES: std::ops::RangeInclusive<f64> = 5.0..=50.0;

/// Milliseconds of work that bring an idle GPU to its full clock rate. Without it, builds of 600 triangles on
/// an H100 took up to 3.7 times as long, and rays through cave.glb up to 3.4 times.
const HEAT_MS: f64 = 250.0;

/// Minimum, median and 95th percentile of a list of times, in their unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Minimum.
    pub min: f64,
    /// Median: the middle value, or the mean of the two middle values.
    pub median: f64,
    /// 95th percentile (nearest rank).
    pub p95: f64,
}

impl Summary {
    /// Summarizes `values`. All fields are NaN if there are none.
    pub fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |place: usize| sorted.get(place).copied().unwrap_or(f64::NAN);
        let count = sorted.len();
        let rank = (0.95 * count as f64).ceil() as usize;
        Self {
            min: at(0),
            median: 0.5 * (at(count.saturating_sub(1) / 2) + at(count / 2)),
            p95: at(rank.saturating_sub(1)),
        }
    }

    /// Formats the summary as JSON.
    pub fn json(self) -> Value {
        json!({"min": self.min, "median": self.median, "p95": self.p95})
    }
}

/// Returns the median of `values`, or NaN if there are none.
pub fn median(values: &[f64]) -> f64 {
    Summary::of(values).median
}

/// Number of repetitions of a measurement.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Number of measured repetitions, if fixed.
    pub samples: Option<u32>,
    /// Number of warm-up repetitions.
    pub warm_up: u32,
    /// Approximate total time of the measured repetitions in milliseconds, if their number is not fixed.
    pub budget_ms: f64,
}

impl Sampling {
    /// Repeats `work`, which returns the total milliseconds and the timings of a repetition. Discards the
    /// warm-up repetitions.
    pub fn repeat(&self, mut work: impl FnMut() -> Result<(f64, Repetition)>) -> Result<Timings> {
        let mut took_ms = f64::INFINITY;
        for _ in 0..self.warm_up {
            took_ms = took_ms.min(work()?.0);
        }
        let mut timings = Timings::default();
        let mut left = self.samples.map_or(f64::INFINITY, f64::from);
        while left > 0.0 {
            let (ms, repetition) = work()?;
            timings.add(repetition);
            took_ms = took_ms.min(ms);
            // The estimate improves with each repetition.
            let wanted = self.samples.map_or_else(
                || (self.budget_ms / took_ms).clamp(*SAMPLES.start(), *SAMPLES.end()),
                f64::from,
            );
            left = (wanted - timings.gpu_ms.len() as f64).ceil();
        }
        Ok(timings)
    }
}

/// One measured repetition.
#[derive(Debug, Clone, Default)]
pub struct Repetition {
    /// GPU milliseconds, from the start of its first stage to the end of its last.
    pub gpu_ms: f64,
    /// Milliseconds from submission until the CPU sees the completion.
    pub wall_ms: f64,
    /// Name and GPU milliseconds of each stage, in order.
    pub stages: Vec<(String, f64)>,
}

impl Repetition {
    /// Creates a repetition from the timings of a frame. Its stages are the innermost scopes.
    pub fn new(passes: &[PassTiming], wall_ms: f64) -> Self {
        let mut repetition = Self {
            wall_ms,
            ..Self::default()
        };
        for (index, pass) in passes.iter().enumerate() {
            if pass.depth == 0 {
                repetition.gpu_ms += pass.last_ms;
            }
            let next = passes.get(index + 1);
            if next.is_some_and(|next| next.depth > pass.depth) {
                continue;
            }
            let known = repetition.stages.iter_mut().find(|(name, _)| *name == pass.name);
            match known {
                Some((_, ms)) => *ms += pass.last_ms,
                None => repetition.stages.push((pass.name.clone(), pass.last_ms)),
            }
        }
        repetition
    }
}

/// Repetitions of one run.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    /// GPU milliseconds of each repetition.
    pub gpu_ms: Vec<f64>,
    /// Milliseconds from submission to completion of each repetition.
    pub wall_ms: Vec<f64>,
    /// Name and GPU milliseconds of each stage, in order, with one time per repetition.
    pub stages: Vec<(String, Vec<f64>)>,
}

impl Timings {
    /// Adds a repetition.
    pub fn add(&mut self, repetition: Repetition) {
        self.gpu_ms.push(repetition.gpu_ms);
        self.wall_ms.push(repetition.wall_ms);
        for (name, ms) in repetition.stages {
            match self.stages.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(ms),
                None => self.stages.push((name, vec![ms])),
            }
        }
    }

    /// Returns the median GPU time in milliseconds.
    pub fn median_ms(&self) -> f64 {
        median(&self.gpu_ms)
    }

    /// Returns the name and median milliseconds of each stage.
    pub fn stage_ms(&self) -> impl Iterator<Item = (&str, f64)> {
        self.stages.iter().map(|(name, all)| (name.as_str(), median(all)))
    }
}

/// A device for measuring compute passes. It never draws. On llvmpipe, a device that has drawn writes
/// timestamps only at its next flush, so that every pass would get the time of its neighbour.
#[derive(Debug)]
pub struct Meter {
    /// The device.
    pub gpu: Gpu,
    /// Number of repetitions.
    pub sampling: Sampling,
    /// Copy that warms up GPUs.
    pub copy: Option<Copy>,
    profiler: Profiler,
}

impl Meter {
    /// Creates a meter on the device of `gpu`.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the adapter has no timestamps.
    pub fn new(gpu: Gpu, sampling: Sampling) -> Result<Self> {
        check_timestamps(&gpu)?;
        Ok(Self {
            profiler: Profiler::new(&gpu)?,
            copy: match gpu.capabilities.has_gpu {
                true => Some(Copy::new(&gpu)?),
                false => None,
            },
            gpu,
            sampling,
        })
    }

    /// Runs work until a GPU reaches its full clock rate, unless warm-up is disabled.
    pub fn warm_up(&self) -> Result<()> {
        let Some(copy) = self.copy.as_ref().filter(|_| self.sampling.warm_up > 0) else {
            return Ok(());
        };
        let stopwatch = Stopwatch::new();
        while stopwatch.ms() < HEAT_MS {
            let mut encoder = self.gpu.encoder("heat");
            copy.record(&mut encoder.scoped_compute_pass("copy"));
            self.gpu.queue.submit([encoder.finish()]);
            self.gpu.wait()?;
        }
        Ok(())
    }

    /// Times the commands that `record` records, repeatedly. The commands of `prepare` run before each
    /// repetition and are not timed.
    pub fn time(
        &mut self,
        prepare: impl Fn(&mut wgpu::CommandEncoder),
        mut record: impl FnMut(&Gpu, &mut Scope<'_>) -> Result<()>,
    ) -> Result<Timings> {
        self.warm_up()?;
        let Self {
            gpu,
            sampling,
            profiler,
            ..
        } = self;
        sampling.repeat(|| {
            let mut encoder = gpu.encoder("prepare");
            prepare(&mut encoder);
            gpu.queue.submit([encoder.finish()]);
            gpu.wait()?;
            let mut encoder = gpu.encoder("sample");
            record(gpu, &mut profiler.scope("sample", &mut encoder))?;
            let measured = profiler.measure(gpu, encoder)?;
            let repetition = Repetition::new(&measured.passes, measured.wall_ms);
            Ok((measured.wall_ms, repetition))
        })
    }

    /// Times the commands of `record` as a whole, without timestamps per stage. Such timestamps make a GPU
    /// idle between stages, which would slow down the measured program.
    pub fn time_whole(
        &mut self,
        mut record: impl FnMut(&Gpu, &mut wgpu::CommandEncoder) -> Result<()>,
    ) -> Result<Timings> {
        self.time(|_| {}, |gpu, scope| record(gpu, Recorder::encoder(scope)))
    }

    /// Runs the commands of `record` once, without measuring them, and waits.
    pub fn once(&mut self, record: impl FnOnce(&Gpu, &mut Scope<'_>) -> Result<()>) -> Result<()> {
        let mut encoder = self.gpu.encoder("once");
        record(&self.gpu, &mut self.profiler.scope("once", &mut encoder))?;
        Ok(self.profiler.measure(&self.gpu, encoder).map(drop)?)
    }
}

/// Fails for an adapter without timestamps.
pub fn check_timestamps(gpu: &Gpu) -> Result<()> {
    if gpu.capabilities.timestamps {
        return Ok(());
    }
    Err(Error::Gpu(format!(
        "{} has no timestamps, which measuring needs; `canopy adapters` lists the adapters that have them",
        gpu.info.name
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_known_values_are_correct() {
        let of = |values: &[f64]| {
            let summary = Summary::of(values);
            (summary.min, summary.median, summary.p95)
        };
        assert_eq!(of(&[3.0]), (3.0, 3.0, 3.0));
        assert_eq!(of(&[4.0, 1.0]), (1.0, 2.5, 4.0));
        assert_eq!(of(&[5.0, 1.0, 3.0]), (1.0, 3.0, 5.0));
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(of(&hundred), (1.0, 50.5, 95.0));
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(of(&twenty), (1.0, 10.5, 19.0));
        assert!(Summary::of(&[]).median.is_nan());
    }

    fn pass(name: &str, depth: usize, last_ms: f64) -> PassTiming {
        PassTiming {
            name: name.into(),
            depth,
            last_ms,
            average_ms: 0.0,
            spans: Vec::new(),
        }
    }

    #[test]
    fn stage_times_are_those_of_the_innermost_scopes() {
        let repetition = Repetition::new(
            &[
                pass("sample", 0, 9.0),
                pass("lbvh", 1, 6.0),
                pass("sort", 2, 1.0),
                pass("sort", 2, 2.0),
                pass("tlas", 2, 3.0),
                pass("trace", 1, 3.0),
            ],
            10.0,
        );
        assert_eq!(repetition.gpu_ms, 9.0);
        let expected = [("sort", 3.0), ("tlas", 3.0), ("trace", 3.0)];
        assert_eq!(
            repetition.stages,
            expected.map(|(name, ms)| (name.to_owned(), ms))
        );
    }

    #[test]
    fn repetitions_fit_the_time_budget() {
        let count = |samples, budget_ms, took: f64| {
            let sampling = Sampling {
                samples,
                warm_up: 2,
                budget_ms,
            };
            let mut done = 0;
            let timings = sampling.repeat(|| {
                done += 1;
                Ok((took, Repetition::default()))
            });
            (timings.unwrap().gpu_ms.len(), done)
        };
        assert_eq!(count(Some(3), 1.0, 100.0), (3, 5));
        assert_eq!(count(None, 1000.0, 100.0), (10, 12));
        assert_eq!(count(None, 1.0, 100.0), (5, 7));
        assert_eq!(count(None, 1e6, 1.0), (50, 52));
    }
}
