//! Samples of a piece of GPU work, and what is told of them.

use crate::{
    Error, Result,
    gpu::{
        Gpu,
        profiler::{PassTiming, Profiler, Scope},
    },
};
use serde_json::{Value, json};

/// Least and most samples where their number follows from the time they take.
const SAMPLES: std::ops::RangeInclusive<f64> = 5.0..=50.0;

/// The smallest, the middle and the 95th percentile of some times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The smallest.
    pub min: f64,
    /// The middle one, or the mean of the two in the middle.
    pub median: f64,
    /// The smallest that 95 % of them do not exceed (nearest rank).
    pub p95: f64,
}

impl Summary {
    /// Of at least one value; of none, all are NaN.
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

    /// As JSON.
    pub fn json(self) -> Value {
        json!({"min": self.min, "median": self.median, "p95": self.p95})
    }
}

/// The median of at least one value.
pub fn median(values: &[f64]) -> f64 {
    Summary::of(values).median
}

/// How many times a piece of work is done.
#[derive(Debug, Clone, Copy)]
pub struct Sampling {
    /// Exactly so often, if given.
    pub samples: Option<u32>,
    /// So often before, unmeasured.
    pub warm_up: u32,
    /// About so long, where the number of samples is not given.
    pub budget_ms: f64,
}

impl Sampling {
    /// Does `sample` often enough; the first few are not kept. A sample tells how many milliseconds it took in all.
    pub fn repeat(&self, mut sample: impl FnMut() -> Result<(f64, Sample)>) -> Result<Timings> {
        let mut took_ms = f64::INFINITY;
        for _ in 0..self.warm_up {
            took_ms = took_ms.min(sample()?.0);
        }
        let mut timings = Timings::default();
        let mut left = self.samples.map_or(f64::INFINITY, f64::from);
        while left > 0.0 {
            let (ms, fresh) = sample()?;
            timings.add(fresh);
            took_ms = took_ms.min(ms);
            // The guess gets better with each sample.
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
pub struct Sample {
    /// On the GPU, from the beginning of its first stage to the end of its last.
    pub gpu_ms: f64,
    /// From submission until the CPU knows that it is done.
    pub wall_ms: f64,
    /// Each stage on the GPU, in order.
    pub stages: Vec<(String, f64)>,
}

impl Sample {
    /// From the timings of one frame: the stages are those scopes that hold no other.
    pub fn new(passes: &[PassTiming], wall_ms: f64) -> Self {
        let mut sample = Self {
            wall_ms,
            ..Self::default()
        };
        for (place, pass) in passes.iter().enumerate() {
            if pass.depth == 0 {
                sample.gpu_ms += pass.last_ms;
            }
            let next = passes.get(place + 1);
            if next.is_some_and(|next| next.depth > pass.depth) {
                continue;
            }
            let known = sample
                .stages
                .iter_mut()
                .find(|(name, _)| *name == pass.name);
            match known {
                Some((_, ms)) => *ms += pass.last_ms,
                None => sample.stages.push((pass.name.clone(), pass.last_ms)),
            }
        }
        sample
    }
}

/// The samples of one run.
#[derive(Debug, Clone, Default)]
pub struct Timings {
    /// See [`Sample`].
    pub gpu_ms: Vec<f64>,
    /// See [`Sample`].
    pub wall_ms: Vec<f64>,
    /// See [`Sample`].
    pub stages: Vec<(String, Vec<f64>)>,
}

impl Timings {
    fn add(&mut self, sample: Sample) {
        self.gpu_ms.push(sample.gpu_ms);
        self.wall_ms.push(sample.wall_ms);
        for (name, ms) in sample.stages {
            match self.stages.iter_mut().find(|(known, _)| *known == name) {
                Some((_, all)) => all.push(ms),
                None => self.stages.push((name, vec![ms])),
            }
        }
    }

    /// The median on the GPU.
    pub fn median_ms(&self) -> f64 {
        median(&self.gpu_ms)
    }

    /// The median of each stage.
    pub fn stage_ms(&self) -> impl Iterator<Item = (&str, f64)> {
        self.stages
            .iter()
            .map(|(name, all)| (name.as_str(), median(all)))
    }
}

/// A device on which compute passes are measured, and nothing is ever drawn: Mesa's software adapter takes the timestamps of a device that
/// has drawn only when it next flushes, so that every pass would get its neighbour's time.
#[derive(Debug)]
pub struct Meter {
    /// The device.
    pub gpu: Gpu,
    /// How often.
    pub sampling: Sampling,
    profiler: Profiler,
}

impl Meter {
    /// Fails where the adapter has no timestamps.
    pub fn new(gpu: Gpu, sampling: Sampling) -> Result<Self> {
        check_timestamps(&gpu)?;
        Ok(Self {
            profiler: Profiler::new(&gpu)?,
            gpu,
            sampling,
        })
    }

    /// Times what `record` records. What `prepare` records comes before each sample and does not count.
    pub fn time(
        &mut self,
        prepare: impl Fn(&mut wgpu::CommandEncoder),
        mut record: impl FnMut(&Gpu, &mut Scope<'_>) -> Result<()>,
    ) -> Result<Timings> {
        let Self {
            gpu,
            sampling,
            profiler,
        } = self;
        sampling.repeat(|| {
            let mut encoder = gpu.encoder("prepare");
            prepare(&mut encoder);
            gpu.queue.submit([encoder.finish()]);
            gpu.wait()?;
            let mut encoder = gpu.encoder("sample");
            record(gpu, &mut profiler.scope("sample", &mut encoder))?;
            let measured = profiler.measure(gpu, encoder)?;
            let sample = Sample::new(&measured.passes, measured.wall_ms);
            Ok((measured.wall_ms, sample))
        })
    }

    /// Does it once, unmeasured, and waits.
    pub fn once(&mut self, record: impl FnOnce(&Gpu, &mut Scope<'_>) -> Result<()>) -> Result<()> {
        let mut encoder = self.gpu.encoder("once");
        record(&self.gpu, &mut self.profiler.scope("once", &mut encoder))?;
        self.profiler.measure(&self.gpu, encoder).map(drop)
    }
}

/// Fails where the adapter has no timestamps.
pub fn check_timestamps(gpu: &Gpu) -> Result<()> {
    if gpu.capabilities.timestamps {
        return Ok(());
    }
    Err(Error::Gpu(format!(
        "{} has no timestamps, without which nothing is measured; `canopy adapters` lists the adapters that have some",
        gpu.info.name
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_known_values() {
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
        }
    }

    #[test]
    fn stages_are_the_innermost_scopes() {
        let sample = Sample::new(
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
        assert_eq!(sample.gpu_ms, 9.0);
        let expected = [("sort", 3.0), ("tlas", 3.0), ("trace", 3.0)];
        assert_eq!(
            sample.stages,
            expected.map(|(name, ms)| (name.to_owned(), ms))
        );
    }

    #[test]
    fn as_many_samples_as_fit() {
        let count = |samples, budget_ms, took: f64| {
            let sampling = Sampling {
                samples,
                warm_up: 2,
                budget_ms,
            };
            let mut done = 0;
            let timings = sampling.repeat(|| {
                done += 1;
                Ok((took, Sample::default()))
            });
            (timings.unwrap().gpu_ms.len(), done)
        };
        assert_eq!(count(Some(3), 1.0, 100.0), (3, 5));
        assert_eq!(count(None, 1000.0, 100.0), (10, 12));
        assert_eq!(count(None, 1.0, 100.0), (5, 7));
        assert_eq!(count(None, 1e6, 1.0), (50, 52));
    }
}
