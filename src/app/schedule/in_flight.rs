//! Frame of the scene that the GPU works on. There is at most one. Its parts are submitted one after another,
//! so that the panel never waits for more than a few of them.

use crate::{
    app::schedule::{NextFrame, PictureKey},
    gpu::Gpu,
    render::{Renderer, frame::recording::FRAME_SCOPE},
};
use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Interval at which the GPU is polled for completion.
pub(in crate::app) const GPU_POLL: Duration = Duration::from_millis(1);

/// Expected GPU time in milliseconds above which no further part is submitted ahead. The queue must not run
/// empty between two polls, but the panel waits for everything in it.
const AHEAD_MS: f32 = 20.0;

/// Time after which the window shows that it renders.
const AWAITED: Duration = Duration::from_millis(200);

/// Maximum time of a part of each pass, measured in the last frame that had the pass.
#[derive(Debug, Default)]
pub(in crate::app) struct PartTimes(HashMap<&'static str, PartTime>);

#[derive(Debug, Clone, Copy)]
struct PartTime {
    ms: f32,
    /// Number of pixels of that frame.
    pixels: f32,
}

impl PartTimes {
    /// Returns the expected time of a part of `pass` in a frame of `pixels` pixels, in milliseconds. Unknown
    /// passes are assumed to take long.
    fn expected_ms(&self, pass: &str, pixels: f32) -> f32 {
        let known = self.0.get(pass);
        known.map_or(AHEAD_MS, |part| part.ms * (pixels / part.pixels).max(1.0))
    }

    /// Updates the times from the parts of a frame of `pixels` pixels.
    fn update(&mut self, parts: &[(&'static str, f32)], pixels: f32) {
        for (pass, _) in parts {
            self.0.remove(pass);
        }
        for &(pass, ms) in parts {
            let slowest = self.0.entry(pass).or_insert(PartTime { ms, pixels });
            slowest.ms = slowest.ms.max(ms);
        }
    }
}

/// A frame of the scene on the GPU.
#[derive(Debug)]
pub(in crate::app) struct InFlight {
    /// Key of the picture that the frame shows.
    pub(in crate::app) picture: PictureKey,
    /// Sample, scale and purpose of the frame.
    pub(in crate::app) frame: NextFrame,
    /// True if its parts are submitted one after another, after the panel.
    pub(in crate::app) is_split: bool,
    /// Time at which its first part was submitted.
    pub(in crate::app) begun: Instant,
    submitted: VecDeque<Submitted>,
    /// True if all parts have been submitted.
    is_submitted: bool,
    /// Time at which the last finished part was found to be done.
    last_done: Instant,
    /// Pass and time in milliseconds of each finished part.
    part_ms: Vec<(&'static str, f32)>,
}

#[derive(Debug)]
struct Submitted {
    pass: &'static str,
    done: Arc<AtomicBool>,
    submitted: Instant,
}

impl InFlight {
    /// Creates a frame that the renderer has recorded. No part of it is submitted yet.
    pub(in crate::app) fn new(picture: PictureKey, frame: NextFrame, is_split: bool, now: Instant) -> Self {
        Self {
            picture,
            frame,
            is_split,
            begun: now,
            submitted: VecDeque::new(),
            is_submitted: false,
            last_done: now,
            part_ms: Vec::new(),
        }
    }

    /// True if the user has waited noticeably long for a new picture. Further samples of a shown picture do
    /// not count.
    pub(in crate::app) fn is_awaited(&self) -> bool {
        self.shows_something_new() && self.begun.elapsed() >= AWAITED
    }

    fn shows_something_new(&self) -> bool {
        self.frame.is_shown && self.frame.sample.index == 0
    }

    /// Returns the time at which [`InFlight::is_awaited`] becomes true if the frame is not done before.
    pub(in crate::app) fn awaited_from(&self) -> Option<Instant> {
        let waits = self.shows_something_new() && !self.is_awaited();
        waits.then(|| self.begun + AWAITED)
    }

    /// Restarts the clock of a frame without submitted parts, because it may have waited for another frame.
    pub(in crate::app) fn begin(&mut self, now: Instant) {
        if !self.is_submitted && self.submitted.is_empty() && self.part_ms.is_empty() {
            (self.begun, self.last_done) = (now, now);
        }
    }

    /// Registers that the caller has submitted the rest of the frame.
    pub(in crate::app) fn submitted_whole(&mut self, gpu: &Gpu, now: Instant) {
        self.watch(gpu, FRAME_SCOPE, now);
        self.is_submitted = true;
    }

    /// Submits the parts that the GPU is ready for. Returns the frame's time in milliseconds once it is done.
    pub(in crate::app) fn poll(
        &mut self,
        gpu: &Gpu,
        renderer: &mut Renderer,
        times: &mut PartTimes,
    ) -> Option<f32> {
        gpu.device.poll(wgpu::PollType::Poll).ok();
        let now = Instant::now();
        while let Some(part) = self
            .submitted
            .pop_front_if(|part| part.done.load(Ordering::Acquire))
        {
            let begun = part.submitted.max(self.last_done);
            let ms = (now - begun).as_secs_f32() * 1e3;
            self.part_ms.push((part.pass, ms));
            self.last_done = now;
        }
        while !self.is_submitted && self.has_room(times) {
            let pass = renderer.next_part().unwrap_or(FRAME_SCOPE);
            self.is_submitted = renderer.submit_part(gpu);
            self.watch(gpu, pass, now);
        }
        if !self.is_submitted || !self.submitted.is_empty() {
            return None;
        }
        times.update(&self.part_ms, self.pixels());
        renderer.collect(gpu);
        Some((now - self.begun).as_secs_f32() * 1e3)
    }

    /// Returns the width and height in pixels that are traced and shaded.
    pub(in crate::app) fn size(&self) -> [u32; 2] {
        self.frame.size(self.picture.area.size)
    }

    fn pixels(&self) -> f32 {
        let [width, height] = self.size();
        width as f32 * height as f32
    }

    /// True if another part may be submitted after the pending ones.
    fn has_room(&self, times: &PartTimes) -> bool {
        let pixels = self.pixels();
        let ahead = self.submitted.iter();
        let ahead = ahead.map(|part| times.expected_ms(part.pass, pixels));
        self.submitted.is_empty() || ahead.sum::<f32>() < AHEAD_MS
    }

    /// Watches for the end of the last submission, a part of `pass`.
    fn watch(&mut self, gpu: &Gpu, pass: &'static str, now: Instant) {
        let done = Arc::new(AtomicBool::new(false));
        let flag = done.clone();
        gpu.queue
            .on_submitted_work_done(move || flag.store(true, Ordering::Release));
        self.submitted.push_back(Submitted {
            pass,
            done,
            submitted: now,
        });
    }
}

/// Times of a finished frame, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct FrameTimes {
    /// GPU time from timestamps. `None` if they have not been read back yet. An adapter without timestamps
    /// uses the wall-clock time, which includes waits, for example for the display.
    pub(in crate::app) frame_ms: Option<f32>,
    /// Cost of a side of a comparison. On software adapters passes overlap and their timestamps mean little,
    /// so that the wall-clock time is used there.
    pub(in crate::app) cost_ms: Option<f32>,
}

impl FrameTimes {
    /// Returns the times of a frame that took `wall_ms` of wall-clock time. `timed_frames` is the number of
    /// timings that `renderer` had before. On an adapter without timestamps, the wall-clock time also updates
    /// the renderer's work budget.
    pub(in crate::app) fn of(gpu: &Gpu, renderer: &mut Renderer, timed_frames: u64, wall_ms: f32) -> Self {
        let stats = renderer.stats();
        let frame_ms = match stats.frame_ms() {
            Some(gpu_ms) if stats.timed_frames > timed_frames => Some(gpu_ms as f32),
            _ if gpu.capabilities.timestamps => None,
            _ => {
                renderer.update_budget(wall_ms.into());
                Some(wall_ms)
            }
        };
        let cost_ms = match gpu.capabilities.has_gpu {
            true => frame_ms,
            false => Some(wall_ms),
        };
        Self { frame_ms, cost_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_times_are_estimated_by_the_slowest_part_of_the_pass() {
        let mut times = PartTimes::default();
        assert_eq!(times.expected_ms("lighting", 1e6), AHEAD_MS);
        let frame = [("gbuffer", 3.0), ("lighting", 5.0), ("lighting", 4.0)];
        times.update(&frame, 1e6);
        assert_eq!(times.expected_ms("lighting", 1e6), 5.0);
        // A larger picture is expected to take longer, but a smaller one is not expected to take less.
        assert_eq!(times.expected_ms("lighting", 4e6), 20.0);
        assert_eq!(times.expected_ms("gbuffer", 2.5e5), 3.0);
        // Passes of the frame forget earlier slower times. Passes that the frame lacks keep their time.
        times.update(&[("lighting", 1.0)], 2.5e5);
        assert_eq!(times.expected_ms("lighting", 5e5), 2.0);
        assert_eq!(times.expected_ms("gbuffer", 1e6), 3.0);
    }
}
