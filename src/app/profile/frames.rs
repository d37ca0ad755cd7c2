//! What the viewer measures of its frames, for the profile: which frame is presented when, and memory now and then.

use crate::{
    gpu::Gpu,
    profile::{history::History, memory::Memory},
};
use std::time::{Duration, Instant};

/// Time between two measurements of memory.
const MEMORY: Duration = Duration::from_millis(250);

/// A frame of the scene that was recorded.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Recorded {
    /// The number by which its timings come back.
    pub(in crate::app) timing: u64,
    /// Time in the clip, in seconds.
    pub(in crate::app) time_secs: f32,
    /// Whether it is submitted in parts, so that its picture is shown later.
    pub(in crate::app) is_parted: bool,
}

/// Which of the frames of the history are on their way to the display.
#[derive(Debug, Default)]
pub(in crate::app) struct Profiling {
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
    pub(in crate::app) fn drawn(&mut self) {
        self.to_show = self.in_parts.take();
    }

    /// The window was drawn: with this frame of the scene, if it has one, and presented at this time, if it was.
    pub(in crate::app) fn end(
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
    pub(in crate::app) fn rest(&mut self) {
        self.follows = false;
    }

    /// Measures memory, unless that was done a moment ago.
    pub(in crate::app) fn measure_memory(&mut self, history: &mut History, gpu: &Gpu) {
        if self.measured.is_none_or(|last| last.elapsed() >= MEMORY) {
            self.measured = Some(Instant::now());
            history.remember_memory(Memory::now(gpu));
        }
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
