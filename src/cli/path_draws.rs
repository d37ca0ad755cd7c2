//! The draws that trace the paths of one picture, whose sizes follow from what they take.

use super::offscreen::{Drawn, Moment, Offscreen};
use crate::{Result, gpu::profiler::Stopwatch, render::FrameSample};

/// How far a picture of paths is.
#[derive(Debug)]
pub(super) struct PathDraws {
    /// Paths of a pixel so far.
    pub(super) done: u32,
    /// As many as are asked for.
    pub(super) wanted: u32,
    has_drawn: bool,
    limit_secs: Option<f64>,
    begun: Stopwatch,
}

impl PathDraws {
    /// Goes on from `done` paths of a pixel to as many as are `wanted`. The time of the limit begins.
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

    /// Whether paths are left, and time. The first draw is made in any case: it makes the picture of the paths
    /// that are done.
    pub(super) fn goes_on(&self) -> bool {
        let is_late = |limit| self.begun.ms() >= 1e3 * limit;
        !self.has_drawn || self.done < self.wanted && !self.limit_secs.is_some_and(is_late)
    }

    /// Draws `moment` once.
    ///
    /// # Errors
    ///
    /// Those of [`Offscreen::draw`].
    pub(super) fn draw(&mut self, offscreen: &mut Offscreen, moment: &Moment) -> Result<Drawn> {
        let drawn = offscreen.draw(moment, FrameSample::SINGLE)?;
        let done = offscreen.stats().path_samples.unwrap_or(self.wanted);
        let before = std::mem::replace(&mut self.done, done);
        self.has_drawn = true;
        offscreen.set_path_samples(added(done - before, drawn.wall_ms));
        if !self.goes_on() && done < self.wanted {
            let wanted = self.wanted;
            log::info!("{done} of {wanted} paths a pixel were traced within the time limit");
        }
        Ok(drawn)
    }
}

/// How many samples the next draw adds, where the last one added so many within this time: a draw that ends
/// soon leaves the adapter idle in between, and one that is long tells nothing of how far it is.
fn added(last: u32, wall_ms: f64) -> u32 {
    const DRAW_MS: f64 = 250.0;
    let fitting = f64::from(last.max(1)) * DRAW_MS / wall_ms.max(1e-3);
    (fitting as u32).clamp(1, 4 * last.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_of_paths_take_a_quarter_of_a_second() {
        assert_eq!(added(1, 10.0), 4);
        assert_eq!(added(8, 500.0), 4);
        assert_eq!(added(1, 9000.0), 1);
        assert_eq!(added(0, 0.0), 4);
    }
}
