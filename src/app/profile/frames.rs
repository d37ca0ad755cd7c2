//! Measurements of the viewer's frames for the profile: present times, and memory at intervals.

use crate::{
    gpu::Gpu,
    profile::{history::History, memory::Memory},
};
use std::time::{Duration, Instant};

/// Interval between two measurements of memory.
const MEMORY: Duration = Duration::from_millis(250);

/// A recorded frame of the scene.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct Recorded {
    /// Number that identifies its timings.
    pub(in crate::app) timing: u64,
    /// Time in the clip, in seconds.
    pub(in crate::app) time_secs: f32,
    /// True if it is submitted in parts, so that its picture is shown later.
    pub(in crate::app) is_split: bool,
}

/// Frames of the history that are on their way to the display.
#[derive(Debug, Default)]
pub(in crate::app) struct Profiling {
    /// Frame that the next present shows.
    to_show: Option<u64>,
    /// Frame that is drawn in parts.
    in_parts: Option<u64>,
    /// True if no rest has followed the last present. The interval to the next present is then a frame time.
    follows: bool,
    /// Time of the last memory measurement.
    measured: Option<Instant>,
}

impl Profiling {
    /// Registers that the frame in parts is done. The next present shows it.
    pub(in crate::app) fn drawn(&mut self) {
        self.to_show = self.in_parts.take();
    }

    /// Registers a redraw of the window with its scene frame, if any, and its present time, if it was
    /// presented.
    pub(in crate::app) fn end(
        &mut self,
        history: &mut History,
        frame: Option<Recorded>,
        presented: Option<Instant>,
    ) {
        match frame {
            Some(frame) => {
                let number = history.push(frame.timing, frame.time_secs);
                match frame.is_split {
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

    /// Registers that nothing moves any more, so that the next frame does not follow the last one.
    pub(in crate::app) fn rest(&mut self) {
        self.follows = false;
    }

    /// Measures memory unless the last measurement is recent.
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

    fn recorded(timing: u64, is_split: bool) -> Option<Recorded> {
        Some(Recorded {
            timing,
            time_secs: 0.0,
            is_split,
        })
    }

    /// A long frame is presented when its last part is done. Frame pacing restarts after a rest.
    #[test]
    fn a_frame_counts_as_presented_when_its_last_part_is_shown() {
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
