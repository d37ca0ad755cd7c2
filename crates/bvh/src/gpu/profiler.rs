//! Timings. A scope is a debug group with a pair of GPU timestamps, which are read back some frames later
//! without waiting.

pub use super::{recorder::Scope, stopwatch::Stopwatch};

use super::device::Gpu;
use crate::{Error, Result};
use std::{collections::VecDeque, ops::Range, sync::Arc};

/// Maximum number of frames with outstanding timings.
const MAX_PENDING: usize = 8;

/// Maximum number of frames that are kept for [`Profiler::take_finished`].
const MAX_FINISHED: usize = 64;

/// Time of one pass.
#[derive(Debug, Clone, PartialEq)]
pub struct PassTiming {
    /// Name of the pass, which is also the name of its shader and source file.
    pub name: String,
    /// Nesting depth.
    pub depth: usize,
    /// Last measured GPU time in milliseconds.
    pub last_ms: f64,
    /// Exponential average over about 30 frames, in milliseconds.
    pub average_ms: f64,
    /// Start and end of each run in the frame, in seconds on the GPU's clock, whose zero is arbitrary. Their
    /// lengths add up to `last_ms`.
    pub spans: Vec<Range<f64>>,
}

impl PassTiming {
    /// Creates the timing of a pass that ran once.
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

/// Timings of a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedFrame {
    /// Number of the frame: see [`Profiler::ended`].
    pub number: u64,
    /// Passes of the frame, in order.
    pub passes: Vec<PassTiming>,
}

/// Measurement of a single frame, after waiting for it.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameTimings {
    /// Passes of the frame, in order.
    pub passes: Vec<PassTiming>,
    /// Time from the submission until the CPU knew that the frame was done, in milliseconds.
    pub wall_ms: f64,
}

/// Measures the GPU time of every scope. On an adapter without timestamps, it only creates debug groups.
pub struct Profiler {
    inner: wgpu_profiler::GpuProfiler,
    timings: Vec<PassTiming>,
    /// Number of frames whose timings have come back.
    frames: u64,
    /// Number of frames that have ended.
    ended: u64,
    /// Numbers of the ended frames with outstanding timings.
    pending: VecDeque<u64>,
    /// Finished frames that have not been taken yet.
    finished: VecDeque<Arc<TimedFrame>>,
    /// True if the adapter has timestamps.
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
    /// Creates a profiler for the device of `gpu`.
    pub fn new(gpu: &Gpu) -> Result<Self> {
        let inner = wgpu_profiler::GpuProfiler::new(
            &gpu.device,
            wgpu_profiler::GpuProfilerSettings {
                max_num_pending_frames: MAX_PENDING,
                ..Default::default()
            },
        );
        let inner = inner.map_err(|e| Error::Gpu(format!("the GPU profiler cannot be created: {e}")))?;
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

    /// Ends the frame. Resolves its queries in `encoder`, submits that, and collects the timings of finished
    /// frames.
    pub fn submit(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) {
        let recorded = self.finish(encoder);
        gpu.queue.submit([recorded]);
        self.end_frame();
        self.collect(gpu);
    }

    /// Finishes `encoder`, which has a part of the frame, and resolves its queries. Submit it after all other
    /// parts of the frame and before [`Profiler::end_frame`].
    pub fn finish(&mut self, mut encoder: wgpu::CommandEncoder) -> wgpu::CommandBuffer {
        self.inner.resolve_queries(&mut encoder);
        encoder.finish()
    }

    /// Ends a frame that has been submitted completely.
    pub fn end_frame(&mut self) {
        self.ended += 1;
        if let Err(error) = self.inner.end_frame() {
            log::debug!("lost the timings of a frame: {error}");
            return;
        }
        if self.pending.len() == MAX_PENDING {
            // The profiler drops the last frame, so that those before it come back.
            self.pending.pop_back();
        }
        self.pending.push_back(self.ended);
    }

    /// Returns the number of ended frames, which is also the number of the last one.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// Returns the frames whose timings have come back since the last call, in order. If there are many, only
    /// the latest.
    pub fn take_finished(&mut self) -> impl Iterator<Item = Arc<TimedFrame>> {
        self.finished.drain(..)
    }

    /// Discards the recorded frame, which will not be submitted completely. Timings of earlier frames stay.
    ///
    /// # Errors
    ///
    /// [`Error::Gpu`] if the adapter has no room for the queries.
    pub fn abort(&mut self, gpu: &Gpu) -> Result<()> {
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

    /// Ends the frame like [`Profiler::submit`], but waits for it and returns its own timings. For
    /// measurements, not for drawing.
    pub fn measure(&mut self, gpu: &Gpu, encoder: wgpu::CommandEncoder) -> Result<FrameTimings> {
        self.timings.clear();
        let stopwatch = Stopwatch::new();
        self.submit(gpu, encoder);
        gpu.wait()?;
        let wall_ms = stopwatch.ms();
        self.collect(gpu);
        if self.timings.is_empty() {
            return Err(Error::Gpu(format!(
                "no timings came back from {}; run it again, or choose another adapter",
                gpu.info.name
            )));
        }
        Ok(FrameTimings {
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
            if self.finished.len() == MAX_FINISHED {
                self.finished.pop_front();
            }
            let passes = fresh;
            self.finished.push_back(Arc::new(TimedFrame { number, passes }));
        }
    }

    /// Returns the number of frames whose timings have come back.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns the timings of the last finished frame, in order.
    pub fn timings(&self) -> &[PassTiming] {
        &self.timings
    }
}

/// Merges the parts of a frame that was submitted in several parts, and their scopes. Passes of the same name
/// stay separate here, and their times are summed later.
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

/// Appends the timings of `scopes` and their nested scopes. A scope around passes has no timestamps of its
/// own, and extends from the first to the last timestamp of the passes. A pass that runs several times, one
/// batch at a time, has one row.
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
