//! Timings: one scope is a debug group and a pair of GPU timestamps, read back frames later without a wait.

pub use super::{recorder::Scope, stopwatch::Stopwatch};

use super::device::Gpu;
use crate::{Error, Result};
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// Most frames whose timings have not come back.
const MOST_PENDING: usize = 8;

/// Most frames that are kept for [`Profiler::take_finished`].
const MOST_FINISHED: usize = 64;

/// The time of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTiming {
    /// The pass's name, that of its shader and source file.
    pub name: String,
    /// How deep it is nested.
    pub depth: usize,
    /// The last measured time on the GPU.
    pub last_ms: f64,
    /// An exponential average over about 30 frames.
    pub average_ms: f64,
    /// Each of its runs in the frame, from its begin to its end in seconds on the GPU's clock, whose zero is
    /// arbitrary. The lengths add up to `last_ms`.
    pub spans: Vec<Range<f64>>,
}

impl PassTiming {
    /// A pass that ran once.
    pub fn new(name: &str, depth: usize, span: Range<f64>) -> Self {
        let last_ms = (span.end - span.start).max(0.0) * 1e3;
        Self {
            name: name.into(),
            depth,
            last_ms,
            average_ms: last_ms,
            spans: vec![span],
        }
    }
}

/// The timings of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedFrame {
    /// Number of the frame: see [`Profiler::ended`].
    pub number: u64,
    /// Its passes, in order.
    pub passes: Vec<PassTiming>,
}

/// One frame that was waited for.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Its timings, in order.
    pub passes: Vec<PassTiming>,
    /// From the submission until the CPU knew that it was done.
    pub wall_ms: f64,
}

/// Measures every scope; on an adapter without timestamps it measures nothing and still groups.
pub struct Profiler {
    inner: wgpu_profiler::GpuProfiler,
    timings: Vec<PassTiming>,
    /// Number of frames whose timings have come back.
    frames: u64,
    /// Number of frames that have ended.
    ended: u64,
    /// Those of them whose timings have not come back.
    pending: VecDeque<u64>,
    /// Frames that nobody has taken yet.
    finished: VecDeque<Arc<TimedFrame>>,
    /// Whether the adapter has timestamps.
    has_times: bool,
}

impl std::fmt::Debug for Profiler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Profiler")
            .field("timings", &self.timings)
            .finish_non_exhaustive()
    }
}

impl Profiler {
    /// A profiler for the device of `gpu`.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let inner = wgpu_profiler::GpuProfiler::new(
            &gpu.device,
            wgpu_profiler::GpuProfilerSettings {
                max_num_pending_frames: MOST_PENDING,
                ..Default::default()
            },
        );
        let inner = inner.map_err(|e| Error::Gpu(format!("no profiler: {e}")))?;
        Ok(Self {
            inner,
            timings: Vec::new(),
            frames: 0,
            ended: 0,
            pending: VecDeque::new(),
            finished: VecDeque::new(),
            has_times: gpu.capabilities.timestamps,
        })
    }

    /// Opens the outermost scope of a frame.
    pub fn scope<'a>(&'a self, name: &str, encoder: &'a mut wgpu::CommandEncoder) -> Scope<'a> {
        Scope::profiled(self.inner.scope(name, encoder), self.has_times)
    }

    /// Ends the frame: its queries are resolved in `encoder`, which is submitted, and finished frames are
    /// taken in.
    pub fn submit(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) {
        let recorded = self.finish(encoder);
        gpu.queue.submit([recorded]);
        self.end_frame();
        self.collect(gpu);
    }

    /// Ends what `encoder` holds of the frame, with its queries resolved. It is to be submitted behind the rest of
    /// the frame, before [`Profiler::end_frame`].
    pub fn finish(&mut self, mut encoder: wgpu::CommandEncoder) -> wgpu::CommandBuffer {
        self.inner.resolve_queries(&mut encoder);
        encoder.finish()
    }

    /// The whole frame has been submitted.
    pub fn end_frame(&mut self) {
        self.ended += 1;
        if let Err(error) = self.inner.end_frame() {
            log::debug!("timings of a frame are lost: {error}");
            return;
        }
        if self.pending.len() == MOST_PENDING {
            // The profiler gives up the last one, so that those before it come back.
            self.pending.pop_back();
        }
        self.pending.push_back(self.ended);
    }

    /// Number of frames that have ended, which is the number of the last one.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// The frames whose timings have come back since the last call, in order; only the latest of many.
    pub fn take_finished(&mut self) -> impl Iterator<Item = Arc<TimedFrame>> {
        self.finished.drain(..)
    }

    /// Forgets the frame that was recorded, which is not going to be submitted whole. Timings of earlier ones stay.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] where the adapter has no room for the queries.
    pub fn abandon(&mut self, gpu: &Gpu) -> Result<()> {
        let timings = std::mem::take(&mut self.timings);
        let finished = std::mem::take(&mut self.finished);
        *self = Self {
            timings,
            finished,
            frames: self.frames,
            ended: self.ended,
            ..Self::new(gpu)?
        };
        Ok(())
    }

    /// As [`Profiler::submit`], but waits and returns the timings of exactly this frame: for measuring, not
    /// for drawing.
    pub fn measure(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) -> Result<Measured> {
        self.timings.clear();
        let stopwatch = Stopwatch::new();
        self.submit(gpu, encoder);
        gpu.wait()?;
        let wall_ms = stopwatch.ms();
        self.collect(gpu);
        if self.timings.is_empty() {
            return Err(Error::Gpu(format!("{} gave no timings", gpu.info.name)));
        }
        Ok(Measured {
            passes: self.timings.clone(),
            wall_ms,
        })
    }

    /// Collects the timings of frames that have finished.
    pub fn collect(&mut self, gpu: &Gpu) {
        while let Some(scopes) = self
            .inner
            .process_finished_frame(gpu.queue.get_timestamp_period())
        {
            let mut fresh = Vec::new();
            flatten(&joined(scopes), 0, &mut fresh);
            for timing in &mut fresh {
                let old = self
                    .timings
                    .iter()
                    .find(|old| old.name == timing.name && old.depth == timing.depth);
                timing.average_ms = old.map_or(timing.last_ms, |old| {
                    old.average_ms + (timing.last_ms - old.average_ms) / 30.0
                });
            }
            self.timings.clone_from(&fresh);
            self.frames += 1;
            let Some(number) = self.pending.pop_front() else {
                continue;
            };
            if self.finished.len() == MOST_FINISHED {
                self.finished.pop_front();
            }
            let passes = fresh;
            self.finished.push_back(Arc::new(TimedFrame { number, passes }));
        }
    }

    /// Number of frames whose timings have come back.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Timings of the last finished frame, in order.
    pub fn timings(&self) -> &[PassTiming] {
        &self.timings
    }
}

/// Joins the parts of a frame that was submitted in parts, and those of the scopes in it. Passes of the same name
/// stay apart: their times add up.
fn joined(scopes: Vec<wgpu_profiler::GpuTimerQueryResult>) -> Vec<wgpu_profiler::GpuTimerQueryResult> {
    let mut whole: Vec<wgpu_profiler::GpuTimerQueryResult> = Vec::new();
    for scope in scopes {
        let is_same = |earlier: &&mut wgpu_profiler::GpuTimerQueryResult| {
            let are_passes = earlier.nested_queries.is_empty() && scope.nested_queries.is_empty();
            earlier.label == scope.label && !are_passes
        };
        match whole.iter_mut().find(is_same) {
            Some(earlier) => {
                let spans = earlier.time.take().zip(scope.time);
                earlier.time = spans.map(|(a, b)| a.start.min(b.start)..a.end.max(b.end));
                earlier.nested_queries.extend(scope.nested_queries);
            }
            None => whole.push(scope),
        }
    }
    for scope in &mut whole {
        scope.nested_queries = joined(std::mem::take(&mut scope.nested_queries));
    }
    whole
}

/// Appends the timings of `scopes` and what is nested in them. A scope around passes has no timestamps of its
/// own: it lasts from the first to the last of theirs. A pass that runs more than once, a batch each time,
/// has one row.
fn flatten(
    scopes: &[wgpu_profiler::GpuTimerQueryResult],
    depth: usize,
    out: &mut Vec<PassTiming>,
) -> Option<Range<f64>> {
    let first = out.len();
    let mut whole: Option<Range<f64>> = None;
    for scope in scopes {
        let place = out.len();
        let nested = flatten(&scope.nested_queries, depth + 1, out);
        let Some(time) = scope.time.clone().or(nested) else {
            continue;
        };
        let timing = PassTiming::new(&scope.label, depth, time.clone());
        let is_pass = out.len() == place;
        let mut siblings = out[first..].iter_mut().filter(|known| known.depth == depth);
        match siblings.find(|known| is_pass && known.name == scope.label) {
            Some(earlier) => {
                earlier.last_ms += timing.last_ms;
                earlier.average_ms += timing.last_ms;
                earlier.spans.extend(timing.spans);
            }
            None => out.insert(place, timing),
        }
        whole = Some(whole.map_or(time.clone(), |whole| {
            whole.start.min(time.start)..whole.end.max(time.end)
        }));
    }
    whole
}
