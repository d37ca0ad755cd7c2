//! The scene's frame that the GPU works on. There is at most one, and its parts are submitted one after another,
//! so that the panel never waits for more than a few of them.

use super::schedule::{NextFrame, PictureKey};
use crate::{gpu::Gpu, render::Renderer};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Interval at which the GPU is asked whether it is done.
pub(super) const GPU_POLL: Duration = Duration::from_millis(1);

/// Work that is submitted ahead, so that the GPU does not run dry between two polls: the panel waits for it.
const AHEAD_MS: f32 = 20.0;

/// Time after which the window says that it renders.
const AWAITED: Duration = Duration::from_millis(200);

/// What the parts of frames take, as the last frame showed.
#[derive(Debug, Default)]
pub(super) struct PartTimes {
    ms: Vec<f32>,
    /// Pixels of that frame.
    pixels: f32,
}

impl PartTimes {
    /// Expected time of part `index` of a frame of so many pixels, in milliseconds. What is not known is taken to
    /// be long.
    fn expected_ms(&self, index: usize, pixels: f32) -> f32 {
        let growth = (pixels / self.pixels.max(1.0)).max(1.0);
        self.ms.get(index).map_or(AHEAD_MS, |ms| ms * growth)
    }
}

/// A frame of the scene on the GPU.
#[derive(Debug)]
pub(super) struct InFlight {
    /// What it shows.
    pub(super) picture: PictureKey,
    /// How it is drawn.
    pub(super) frame: NextFrame,
    /// Whether its parts are submitted one after another, behind the panel.
    pub(super) is_parted: bool,
    /// When its first part was submitted.
    pub(super) begun: Instant,
    submitted: VecDeque<Part>,
    /// Whether all parts have been submitted.
    is_submitted: bool,
    /// When the last finished part was found to be done.
    last_done: Instant,
    part_ms: Vec<f32>,
}

#[derive(Debug)]
struct Part {
    index: usize,
    done: Arc<AtomicBool>,
    submitted: Instant,
}

impl InFlight {
    /// A frame that the renderer has recorded, of which nothing has been submitted yet.
    pub(super) fn new(
        picture: PictureKey,
        frame: NextFrame,
        is_parted: bool,
        now: Instant,
    ) -> Self {
        Self {
            picture,
            frame,
            is_parted,
            begun: now,
            submitted: VecDeque::new(),
            is_submitted: false,
            last_done: now,
            part_ms: Vec::new(),
        }
    }

    /// Whether a person has waited for it: longer than a moment, and for more than another sample.
    pub(super) fn is_awaited(&self) -> bool {
        self.frame.sample.index == 0 && self.begun.elapsed() >= AWAITED
    }

    /// When [`InFlight::is_awaited`] will begin to hold, unless the frame is done before.
    pub(super) fn awaited_from(&self) -> Option<Instant> {
        let waits = self.frame.sample.index == 0 && !self.is_awaited();
        waits.then(|| self.begun + AWAITED)
    }

    /// The caller has submitted the rest of the frame.
    pub(super) fn submitted_whole(&mut self, gpu: &Gpu, now: Instant) {
        self.watch(gpu, now);
        self.is_submitted = true;
    }

    /// Submits what the GPU is ready for. Returns the time in milliseconds that the frame took once it is done.
    pub(super) fn poll(
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
            self.part_ms.push((now - begun).as_secs_f32() * 1e3);
            self.last_done = now;
        }
        while !self.is_submitted && self.has_room(times) {
            self.is_submitted = renderer.submit_part(gpu);
            self.watch(gpu, now);
        }
        if !self.is_submitted || !self.submitted.is_empty() {
            return None;
        }
        *times = PartTimes {
            ms: std::mem::take(&mut self.part_ms),
            pixels: self.pixels(),
        };
        renderer.collect(gpu);
        Some((now - self.begun).as_secs_f32() * 1e3)
    }

    /// Pixels that are traced and shaded.
    fn pixels(&self) -> f32 {
        let [width, height] = self.frame.size(self.picture.area.size);
        width as f32 * height as f32
    }

    /// Whether another part may be submitted behind those that are.
    fn has_room(&self, times: &PartTimes) -> bool {
        let pixels = self.pixels();
        let ahead = self.submitted.iter();
        let ahead = ahead.map(|part| times.expected_ms(part.index, pixels));
        self.submitted.is_empty() || ahead.sum::<f32>() < AHEAD_MS
    }

    /// Watches for the end of what was submitted last.
    fn watch(&mut self, gpu: &Gpu, now: Instant) {
        let done = Arc::new(AtomicBool::new(false));
        let flag = done.clone();
        gpu.queue
            .on_submitted_work_done(move || flag.store(true, Ordering::Release));
        let index = self.part_ms.len() + self.submitted.len();
        self.submitted.push_back(Part {
            index,
            done,
            submitted: now,
        });
    }
}
