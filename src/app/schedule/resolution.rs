//! Dynamic resolution while something moves: as fine as the frame budget allows.

/// Steps from full resolution to half the side lengths. Each step divides the number of pixels by √2.
const STEPS: i32 = 4;
/// Ratio of frame time to budget above which the next frame is coarser.
const SLACK: f32 = 1.15;
/// Ratio of frame time to budget below which the next frame may be finer. One step up means √2 times the
/// pixels, which fits.
const ROOM: f32 = 0.6;
/// Maximum number of steps by which one frame makes the next coarser. The frame may have waited for something
/// else.
const MAX_COARSER: i32 = 3;

/// Rendered size divided by the viewport's size while something moves, from 1 down to a half.
#[derive(Debug)]
pub(in crate::app) struct Resolution {
    /// Steps below full resolution.
    step: i32,
    /// True if the last frame took longer than its budget and could not be coarser.
    is_late: bool,
}

impl Resolution {
    /// Starts at the step nearest to `scale`.
    pub(in crate::app) fn new(scale: f32) -> Self {
        Self {
            step: nearest_step(scale),
            is_late: false,
        }
    }

    /// Returns the rendered size divided by the viewport's size.
    pub(in crate::app) fn scale(&self) -> f32 {
        scale(self.step)
    }

    /// True if frames exceed their budget even at the lowest resolution.
    pub(in crate::app) fn is_late(&self) -> bool {
        self.is_late
    }

    /// Adapts to a frame at scale `drawn` that took `frame_ms` with a budget of `budget_ms`. The frame time
    /// is assumed to be proportional to the pixels. Frames at another scale than the current one are ignored.
    pub(in crate::app) fn update(&mut self, drawn: f32, frame_ms: f32, budget_ms: f32) {
        if drawn != self.scale() {
            return;
        }
        self.is_late = frame_ms > SLACK * budget_ms && self.step == STEPS;
        if frame_ms > SLACK * budget_ms {
            let fitting = self.scale() * (budget_ms / frame_ms).sqrt();
            let wanted = nearest_step(fitting).clamp(self.step + 1, self.step + MAX_COARSER);
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

    /// Simulates frames on an adapter that takes `fixed_ms` plus a fraction of `full_ms` proportional to the
    /// pixels.
    fn settle(full_ms: f32, fixed_ms: f32, budget_ms: f32) -> (Resolution, f32) {
        let mut resolution = Resolution::new(0.5);
        let frame_ms = |r: &Resolution| fixed_ms + full_ms * r.scale() * r.scale();
        for _ in 0..40 {
            resolution.update(resolution.scale(), frame_ms(&resolution), budget_ms);
        }
        let last = resolution.step;
        resolution.update(resolution.scale(), frame_ms(&resolution), budget_ms);
        assert_eq!(resolution.step, last, "{full_ms} ms: it never rests");
        let ms = frame_ms(&resolution);
        (resolution, ms)
    }

    #[test]
    fn the_render_scale_meets_the_budget_and_settles() {
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
    fn one_slow_frame_lowers_the_scale_by_at_most_three_steps() {
        let mut resolution = Resolution::new(1.0);
        resolution.update(1.0, 1e6, 16.0);
        resolution.update(1.0, 1e6, 16.0);
        assert_eq!(resolution.step, MAX_COARSER);
        assert_eq!(Resolution::new(0.5).scale(), 0.5);
        assert_eq!(Resolution::new(0.0).scale(), 0.5);
    }
}
