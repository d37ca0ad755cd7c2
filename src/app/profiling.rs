//! What the viewer measures of its frames, for the profile: which frame is presented when, and memory now and then.

use super::{in_flight::InFlight, pictures, viewer::Viewer};
use crate::{
    Result,
    gpu::Gpu,
    profile::{self, history::History, memory::Memory},
};
use std::time::{Duration, Instant};

/// Time between two measurements of memory.
const MEMORY: Duration = Duration::from_millis(250);

/// A frame of the scene that was recorded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded {
    /// The number by which its timings come back.
    pub(super) timing: u64,
    /// Time in the clip, in seconds.
    pub(super) time_secs: f32,
    /// Whether it is submitted in parts, so that its picture is shown later.
    pub(super) is_parted: bool,
}

/// Which of the frames of the history are on their way to the display.
#[derive(Debug, Default)]
pub(super) struct Profiling {
    /// The frame that the next present shows.
    to_show: Option<u64>,
    /// The frame that is drawn in parts.
    in_parts: Option<u64>,
    /// Whether the frame after the last one was to follow at once.
    follows: bool,
    /// When memory was measured last.
    measured: Option<Instant>,
}

impl Profiling {
    /// The frame in parts is drawn: the next present shows it.
    pub(super) fn drawn(&mut self) {
        self.to_show = self.in_parts.take();
    }

    /// The window was drawn: with this frame of the scene, if it has one, and presented at this time, if it was.
    pub(super) fn end(
        &mut self,
        history: &mut History,
        frame: Option<Recorded>,
        presented: Option<Instant>,
    ) {
        match frame {
            Some(frame) => {
                let number = history.push(frame.timing, frame.time_secs);
                match frame.is_parted {
                    true => self.in_parts = Some(number),
                    false => self.to_show = Some(number),
                }
            }
            None => history.discard(),
        }
        if let Some(at) = presented
            && let Some(number) = self.to_show.take()
        {
            history.presented(number, at, self.follows);
            self.follows = true;
        }
    }

    /// Nothing moves any more: what comes next does not follow the last frame.
    pub(super) fn rest(&mut self) {
        self.follows = false;
    }

    /// Measures memory, unless that was done a moment ago.
    pub(super) fn measure_memory(&mut self, history: &mut History, gpu: &Gpu) {
        if self.measured.is_none_or(|last| last.elapsed() >= MEMORY) {
            self.measured = Some(Instant::now());
            history.remember_memory(Memory::now(gpu));
        }
    }
}

impl Viewer {
    /// What a frame that was recorded, and is not submitted yet, is in the profile.
    pub(super) fn profiled(&self, frame: &InFlight) -> Recorded {
        Recorded {
            timing: self.graphics.renderer.submitted_frames() + 1,
            time_secs: frame.picture.time,
            is_parted: frame.is_parted,
        }
    }

    /// Adds the timings that have come back to the history.
    pub(super) fn take_timings(&mut self) {
        for timed in self.graphics.renderer.take_timed() {
            self.state.history.timed(timed);
        }
    }

    /// Saves the profile beside the pictures.
    pub(super) fn save_profile(&mut self, extension: &str) {
        let path = pictures::new_path(&self.picture_name(), extension);
        let frames = self.state.profiler.frames(&self.state.history);
        let adapter = &self.graphics.gpu.info.name;
        match profile::write(&path, frames, adapter) {
            Ok(()) => self.state.notify(format!("saved {}", path.display())),
            Err(error) => self
                .state
                .fail("The profile could not be saved", error.to_string()),
        }
    }

    /// Writes the profile that was asked for when the viewer ends.
    pub(super) fn write_profile(&mut self) -> Result<()> {
        let Some(path) = self.options.profile.clone() else {
            return Ok(());
        };
        // The last frames are still being timed.
        if self.graphics.gpu.wait().is_ok() {
            self.graphics.renderer.collect(&self.graphics.gpu);
            self.take_timings();
        }
        let adapter = &self.graphics.gpu.info.name;
        profile::write(&path, self.state.history.frames(), adapter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(timing: u64, is_parted: bool) -> Option<Recorded> {
        Some(Recorded {
            timing,
            time_secs: 0.0,
            is_parted,
        })
    }

    /// A long frame is presented when its last part is done, and pacing begins anew after a rest.
    #[test]
    fn frames_are_presented_when_their_picture_is_shown() {
        let (mut profiling, mut history) = (Profiling::default(), History::new(9));
        let start = Instant::now();
        let at = |ms| Some(start + Duration::from_millis(ms));
        profiling.end(&mut history, recorded(1, false), at(10));
        profiling.end(&mut history, recorded(2, true), at(20));
        profiling.end(&mut history, None, at(30));
        profiling.drawn();
        profiling.end(&mut history, None, at(40));
        profiling.rest();
        profiling.end(&mut history, recorded(3, false), None);
        profiling.end(&mut history, None, at(90));
        profiling.end(&mut history, recorded(4, false), at(95));
        let paces: Vec<_> = history.frames().iter().map(|f| f.present_ms).collect();
        assert_eq!(paces, [None, Some(30.0), None, Some(5.0)]);
    }
}
