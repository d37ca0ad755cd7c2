//! Frame history of a profile. The GPU timings of a frame arrive some frames later.

use super::memory::Memory;
use crate::gpu::profiler::{PassTiming, TimedFrame};
use std::{collections::VecDeque, sync::Arc, time::Instant};

/// Number of frames that the viewer keeps.
pub const FRAMES: usize = 600;

/// A span of CPU work in a frame.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuSpan {
    /// Name of the work.
    pub name: &'static str,
    /// Start, in milliseconds since the start of the history.
    pub start_ms: f64,
    /// Duration in milliseconds.
    pub ms: f64,
}

/// A rendered frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Frame number, from 1.
    pub number: u64,
    /// Time in the clip, in seconds.
    pub time_secs: f32,
    /// Spans of CPU work, in order.
    pub cpu: Vec<CpuSpan>,
    /// GPU passes, or `None` until the timings arrive or if the adapter has no timestamps.
    pub gpu: Option<Arc<TimedFrame>>,
    /// Time of its present, in milliseconds since the start of the history.
    pub presented_ms: Option<f64>,
    /// Time since the previous present in milliseconds, or `None` after a pause or without a window.
    pub present_ms: Option<f64>,
    /// Memory after the frame, if it was measured.
    pub memory: Option<Memory>,
    /// Number by which the profiler identifies its timings.
    timing: u64,
}

impl Frame {
    /// Returns the GPU passes, or none until the timings arrive.
    pub fn passes(&self) -> &[PassTiming] {
        self.gpu.as_ref().map_or(&[], |timed| &timed.passes)
    }

    /// Returns the total GPU time in milliseconds.
    pub fn gpu_ms(&self) -> Option<f64> {
        let outermost = self.passes().iter().filter(|pass| pass.depth == 0);
        let ms: f64 = outermost.map(|pass| pass.last_ms).sum();
        self.gpu.as_ref().map(|_| ms)
    }

    /// Returns the total CPU time in milliseconds.
    pub fn cpu_ms(&self) -> f64 {
        self.cpu.iter().map(|span| span.ms).sum()
    }

    /// Returns the frame time in milliseconds. It is the time since the previous present if that is known,
    /// otherwise the larger of the GPU time and the CPU time.
    pub fn frame_ms(&self) -> f64 {
        let alone = self.gpu_ms().unwrap_or(0.0).max(self.cpu_ms());
        self.present_ms.unwrap_or(alone)
    }
}

/// The most recent frames.
#[derive(Debug)]
pub struct History {
    start: Instant,
    frames: VecDeque<Frame>,
    most: usize,
    /// Number of the last frame.
    last: u64,
    /// CPU work since the end of the last frame.
    spans: Vec<CpuSpan>,
    /// Time of the last present.
    presented: Option<Instant>,
}

impl History {
    /// Creates an empty history of at most `most` frames.
    pub fn new(most: usize) -> Self {
        Self {
            start: Instant::now(),
            frames: VecDeque::new(),
            most,
            last: 0,
            spans: Vec::new(),
            presented: None,
        }
    }

    /// Returns the frames, the latest last.
    pub fn frames(&self) -> &VecDeque<Frame> {
        &self.frames
    }

    /// Deletes all frames. Numbering continues.
    pub fn clear(&mut self) {
        self.frames.clear();
    }

    /// Adds a span of CPU work from `began` until now to the next frame.
    pub fn span(&mut self, name: &'static str, began: Instant) {
        let span = CpuSpan {
            name,
            start_ms: self.ms_at(began),
            ms: began.elapsed().as_secs_f64() * 1e3,
        };
        self.spans.push(span);
    }

    /// Discards the CPU work since the last frame. Call it if the work did not result in a frame.
    pub fn discard(&mut self) {
        self.spans.clear();
    }

    /// Adds a recorded frame at the clip's time `time_secs`. `timing` is its number in the profiler, by which
    /// its timings arrive later. Returns the frame's number.
    pub fn push(&mut self, timing: u64, time_secs: f32) -> u64 {
        self.last += 1;
        if self.frames.len() == self.most {
            self.frames.pop_front();
        }
        self.frames.push_back(Frame {
            number: self.last,
            time_secs,
            cpu: std::mem::take(&mut self.spans),
            gpu: None,
            presented_ms: None,
            present_ms: None,
            memory: None,
            timing,
        });
        self.last
    }

    /// Adds GPU timings to their frame, if the history still holds it.
    pub fn timed(&mut self, timed: Arc<TimedFrame>) {
        let mut latest_first = self.frames.iter_mut().rev();
        if let Some(frame) = latest_first.find(|frame| frame.timing == timed.number) {
            frame.gpu = Some(timed);
        }
    }

    /// Records that frame `number` was presented at `at`. `follows` is false if there was an intended pause
    /// since the previous frame.
    pub fn presented(&mut self, number: u64, at: Instant, follows: bool) {
        let before = self.presented.replace(at).filter(|_| follows);
        let presented_ms = self.ms_at(at);
        let mut latest_first = self.frames.iter_mut().rev();
        if let Some(frame) = latest_first.find(|frame| frame.number == number) {
            frame.presented_ms = Some(presented_ms);
            frame.present_ms = before.map(|before| (at - before).as_secs_f64() * 1e3);
        }
    }

    /// Stores the memory usage after the last frame.
    pub fn remember_memory(&mut self, memory: Memory) {
        if let Some(frame) = self.frames.back_mut() {
            frame.memory = Some(memory);
        }
    }

    /// Returns the latest measurement of memory.
    pub fn memory(&self) -> Option<&Memory> {
        self.frames.iter().rev().find_map(|frame| frame.memory.as_ref())
    }

    fn ms_at(&self, time: Instant) -> f64 {
        time.saturating_duration_since(self.start).as_secs_f64() * 1e3
    }
}

/// Sample frames for tests.
#[cfg(test)]
pub(crate) mod samples {
    use super::*;

    /// Creates a pass with a start and a duration in milliseconds.
    pub(crate) fn pass(name: &str, depth: usize, start_ms: f64, ms: f64) -> PassTiming {
        PassTiming::new(name, depth, start_ms * 1e-3..(start_ms + ms) * 1e-3)
    }

    /// Creates three frames. The second is slow, has a pass that ran twice, and has no time between presents.
    pub(crate) fn frames() -> Vec<Frame> {
        let frame = |number: u64, passes: Vec<PassTiming>, present_ms| {
            let start_ms = 20.0 * number as f64;
            let span = |name, after_ms, ms| CpuSpan {
                name,
                start_ms: start_ms + after_ms,
                ms,
            };
            Frame {
                number,
                time_secs: number as f32 / 50.0,
                cpu: vec![
                    span("panel", 0.0, 1.0),
                    span("record", 1.5, 2.0),
                    span("submit", 4.0, 0.5),
                ],
                gpu: Some(Arc::new(TimedFrame { number, passes })),
                presented_ms: Some(start_ms + 5.0),
                present_ms,
                memory: Some(Memory {
                    gpu_bytes: [1 << 20, 2 << 20, 3, 4, 5],
                    process_bytes: Some(1 << 30),
                }),
                timing: number,
            }
        };
        // The GPU's clock starts 5 seconds before the CPU's clock.
        let at = |number: u64| 5000.0 + 20.0 * number as f64 + 5.0;
        let short = |number| {
            vec![
                pass("frame", 0, at(number), 6.0),
                pass("deform", 1, at(number), 1.0),
                pass("lbvh", 1, at(number) + 1.0, 4.0),
                pass("sort", 2, at(number) + 2.0, 2.0),
            ]
        };
        let mut slow = short(2);
        slow[0] = pass("frame", 0, at(2), 12.0);
        slow[3].spans.push((at(2) + 4.5) * 1e-3..(at(2) + 5.0) * 1e-3);
        slow[3].last_ms += 0.5;
        slow.push(pass("shadows", 1, at(2) + 6.0, 5.5));
        vec![
            frame(1, short(1), Some(20.0)),
            frame(2, slow, None),
            frame(3, short(3), Some(25.0)),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn timed(number: u64) -> Arc<TimedFrame> {
        let passes = vec![samples::pass("frame", 0, 0.0, number as f64)];
        Arc::new(TimedFrame { number, passes })
    }

    /// Measures the profiler's own overhead per frame, with the calls that the window makes over thousands of
    /// frames, compared with the same loop without them. The runs alternate, and the median suppresses noise.
    #[test]
    fn a_frame_is_profiled_in_microseconds() {
        const FRAMES: u64 = 2000;
        const SPANS: [&str; 8] = [
            "animate", "panel", "animate", "record", "compose", "acquire", "submit", "present",
        ];
        // The number of passes in a frame with shadows, occlusion and reflections.
        let timed: Vec<_> = (1..=FRAMES)
            .map(|number| {
                let pass = |i| samples::pass("a pass of the frame", 1, f64::from(i), 0.5);
                let passes = (0..40).map(pass).collect();
                Arc::new(TimedFrame { number, passes })
            })
            .collect();
        let run = |profiles: bool| {
            let mut history = History::new(super::FRAMES);
            let start = Instant::now();
            for timed in &timed {
                for name in SPANS {
                    // Only the profiler needs the clock.
                    if profiles {
                        history.span(name, Instant::now());
                    }
                }
                if profiles {
                    let number = history.push(timed.number, 0.0);
                    history.presented(number, Instant::now(), true);
                    history.timed(timed.clone());
                }
                std::hint::black_box(timed);
            }
            start.elapsed().as_secs_f64() * 1e6 / FRAMES as f64
        };
        let mut shares: Vec<f64> = (0..15).map(|_| run(true) - run(false)).collect();
        shares.sort_by(f64::total_cmp);
        let median_us = shares[shares.len() / 2];
        println!("the profiler takes {median_us:.2} µs of a frame");
        assert!(median_us > 0.0 && median_us < 200.0, "{shares:?}");
    }

    #[test]
    fn timings_are_matched_to_their_frame_and_old_frames_are_dropped() {
        let mut history = History::new(3);
        for frame in 1..=5 {
            history.span("record", Instant::now());
            assert_eq!(history.push(10 * frame, 0.0), frame);
        }
        assert_eq!(history.frames().len(), 3);
        assert_eq!(history.frames()[0].number, 3);
        for number in [10, 50, 30, 31] {
            history.timed(timed(number));
        }
        let gpu_ms: Vec<_> = history.frames().iter().map(Frame::gpu_ms).collect();
        assert_eq!(gpu_ms, [Some(30.0), None, Some(50.0)]);
        assert!(history.frames().iter().all(|frame| frame.cpu.len() == 1));
        history.span("panel", Instant::now());
        history.discard();
        history.push(60, 0.0);
        assert_eq!(history.frames()[2].cpu, []);
        history.clear();
        assert_eq!((history.frames().len(), history.push(70, 0.0)), (0, 7));
    }

    /// Profiling is always on in the viewer. It costs far less than a hundredth of a frame at 60 Hz, and
    /// needs no further memory once there are 600 frames.
    #[test]
    fn profiling_a_frame_costs_less_than_a_percent_of_it() {
        let passes: Vec<_> = (0..50)
            .map(|n| samples::pass("reflection_surface", n % 3, 0.0, 0.1))
            .collect();
        let mut history = History::new(FRAMES);
        let mut times = Vec::new();
        for number in 1..=2 * FRAMES as u64 {
            let began = Instant::now();
            for name in ["animate", "panel", "record", "compose", "acquire", "submit"] {
                history.span(name, began);
            }
            history.push(number, 0.0);
            // Two copies: one for the profiler, one for the frame.
            let passes = (passes.clone(), passes.clone());
            history.timed(Arc::new(TimedFrame {
                number,
                passes: passes.0,
            }));
            history.presented(number, began, true);
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
        assert_eq!(history.frames().len(), FRAMES);
        assert!(history.frames.capacity() <= 2 * FRAMES);
        times.sort_by(f64::total_cmp);
        let median_ms = times[FRAMES];
        println!("a frame of the profile takes {median_ms:.4} ms");
        assert!(median_ms < 0.01 * 1e3 / 60.0, "{median_ms} ms");
    }

    /// The time between presents is only set for frames that follow one another.
    #[test]
    fn present_intervals_are_measured_only_between_consecutive_frames() {
        let mut history = History::new(9);
        let start = Instant::now();
        for (number, ms, follows) in [(1, 0, true), (2, 16, true), (3, 900, false), (4, 950, true)] {
            history.push(number, 0.0);
            history.presented(number, start + Duration::from_millis(ms), follows);
        }
        let paces: Vec<_> = history.frames().iter().map(|f| f.present_ms).collect();
        assert_eq!(paces, [None, Some(16.0), None, Some(50.0)]);
        assert!((history.frames()[3].frame_ms() - 50.0).abs() < 1e-9);
    }
}
