//! The resolution while something moves: as fine as the time of a frame allows.

/// A step of the ladder of scales halves the pixels, and the square root of that the sides.
const STEPS: i32 = 4;
/// A frame may take so much longer than its budget before the next one is coarser.
const SLACK: f32 = 1.15;
/// A frame that takes less than this share of its budget lets the next one be finer. A step finer has √2 times
/// the pixels, which fits.
const ROOM: f32 = 0.6;
/// Most steps that one frame makes the next one coarser: it may have waited for something else.
const MOST_COARSER: i32 = 3;

/// Rendered size over the window's while something moves, from 1 down to a half.
#[derive(Debug)]
pub(in crate::app) struct Resolution {
    /// Steps below full resolution.
    step: i32,
    /// Whether the last frame took longer than it should, and could not be coarser.
    is_late: bool,
}

impl Resolution {
    /// Begins at about `scale`.
    pub(in crate::app) fn new(scale: f32) -> Self {
        Self {
            step: nearest_step(scale),
            is_late: false,
        }
    }

    /// The rendered size over the window's.
    pub(in crate::app) fn scale(&self) -> f32 {
        scale(self.step)
    }

    /// Whether frames take longer than they should at the least resolution.
    pub(in crate::app) fn is_late(&self) -> bool {
        self.is_late
    }

    /// Learns that a frame at `drawn` took `frame_ms`, where it should take `budget_ms`. Its time is taken to follow
    /// its pixels. Frames at another scale than the one in use tell nothing.
    pub(in crate::app) fn learn(&mut self, drawn: f32, frame_ms: f32, budget_ms: f32) {
        if drawn != self.scale() {
            return;
        }
        self.is_late = frame_ms > SLACK * budget_ms && self.step == STEPS;
        if frame_ms > SLACK * budget_ms {
            let fitting = self.scale() * (budget_ms / frame_ms).sqrt();
            let wanted = nearest_step(fitting).clamp(self.step + 1, self.step + MOST_COARSER);
            self.step = wanted.min(STEPS);
        } else if frame_ms < ROOM * budget_ms {
            self.step = (self.step - 1).max(0);
        }
    }
}

fn scale(step: i32) -> f32 {
    (-0.25 * step as f32).exp2()
}

fn nearest_step(scale: f32) -> i32 {
    let step = (-4.0 * scale.max(f32::MIN_POSITIVE).log2()).round();
    (step as i32).clamp(0, STEPS)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws frames of an adapter that takes `full_ms` for a full one, and `fixed_ms` for none of the pixels.
    fn settle(full_ms: f32, fixed_ms: f32, budget_ms: f32) -> (Resolution, f32) {
        let mut resolution = Resolution::new(0.5);
        let frame_ms = |r: &Resolution| fixed_ms + full_ms * r.scale() * r.scale();
        for _ in 0..40 {
            resolution.learn(resolution.scale(), frame_ms(&resolution), budget_ms);
        }
        let last = resolution.step;
        resolution.learn(resolution.scale(), frame_ms(&resolution), budget_ms);
        assert_eq!(resolution.step, last, "{full_ms} ms: it never rests");
        let ms = frame_ms(&resolution);
        (resolution, ms)
    }

    #[test]
    fn the_budget_is_met_where_it_can_be_and_the_scale_rests() {
        for (full_ms, fixed_ms, budget_ms) in [
            (5.0, 1.0, 16.0),
            (40.0, 1.0, 16.0),
            (300.0, 10.0, 100.0),
            (400.0, 0.0, 100.0),
            (30.0, 0.0, 16.0),
        ] {
            let (resolution, ms) = settle(full_ms, fixed_ms, budget_ms);
            assert!(ms <= SLACK * budget_ms, "{full_ms}: {ms} ms");
            assert!(!resolution.is_late());
            let is_finest = resolution.step == 0 || ms > 0.5 * budget_ms;
            assert!(is_finest, "{full_ms}: {ms} ms at {}", resolution.scale());
        }
        let (slow, _) = settle(1e5, 0.0, 16.0);
        assert_eq!(slow.scale(), 0.5);
        assert!(slow.is_late());
        assert_eq!(settle(0.1, 0.0, 16.0).0.scale(), 1.0);
    }

    #[test]
    fn one_slow_frame_costs_three_steps_at_most() {
        let mut resolution = Resolution::new(1.0);
        resolution.learn(1.0, 1e6, 16.0);
        resolution.learn(1.0, 1e6, 16.0);
        assert_eq!(resolution.step, MOST_COARSER);
        assert_eq!(Resolution::new(0.5).scale(), 0.5);
        assert_eq!(Resolution::new(0.0).scale(), 0.5);
    }
}
