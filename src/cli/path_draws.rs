//! Draws that trace the paths of one picture. The sample count of each draw adapts to the time of the last
//! one.

use super::offscreen::{Drawn, Moment, Offscreen};
use crate::{Result, gpu::profiler::Stopwatch, render::FrameSample};

/// Progress of a path-traced picture.
#[derive(Debug)]
pub(super) struct PathDraws {
    /// Paths per pixel traced so far.
    pub(super) done: u32,
    /// Paths per pixel requested.
    pub(super) wanted: u32,
    has_drawn: bool,
    limit_secs: Option<f64>,
    begun: Stopwatch,
}

impl PathDraws {
    /// Continues from `done` paths per pixel to `wanted`. The time limit starts now.
    pub(super) fn new(offscreen: &mut Offscreen, [done, wanted]: [u32; 2], limit_secs: Option<f64>) -> Self {
        offscreen.set_path_samples(1);
        Self {
            done,
            wanted,
            has_drawn: false,
            limit_secs,
            begun: Stopwatch::new(),
        }
    }

    /// True if paths and time are left. The first draw always happens, because it also creates the picture of
    /// paths restored from a checkpoint.
    pub(super) fn goes_on(&self) -> bool {
        let is_late = |limit| self.begun.ms() >= 1e3 * limit;
        !self.has_drawn || self.done < self.wanted && !self.limit_secs.is_some_and(is_late)
    }

    /// Draws `moment` once.
    ///
    /// # Errors
    ///
    /// Any error of [`Offscreen::draw`].
    pub(super) fn draw(&mut self, offscreen: &mut Offscreen, moment: &Moment) -> Result<Drawn> {
        let drawn = offscreen.draw(moment, FrameSample::SINGLE)?;
        let done = offscreen.stats().path_samples.unwrap_or(self.wanted);
        let before = std::mem::replace(&mut self.done, done);
        self.has_drawn = true;
        offscreen.set_path_samples(added(done - before, drawn.wall_ms));
        if !self.goes_on() && done < self.wanted {
            let wanted = self.wanted;
            log::info!("{done} of {wanted} paths per pixel were traced within the time limit");
        }
        Ok(drawn)
    }
}

/// Returns the number of samples that the next draw adds, from the number and the time of the last one. Too
/// short draws leave the adapter idle in between, and too long draws delay progress reports.
fn added(last: u32, wall_ms: f64) -> u32 {
    const DRAW_MS: f64 = 250.0;
    let fitting = f64::from(last.max(1)) * DRAW_MS / wall_ms.max(1e-3);
    (fitting as u32).clamp(1, 4 * last.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_samples_per_draw_target_a_quarter_of_a_second() {
        assert_eq!(added(1, 10.0), 4);
        assert_eq!(added(8, 500.0), 4);
        assert_eq!(added(1, 9000.0), 1);
        assert_eq!(added(0, 0.0), 4);
    }
}
