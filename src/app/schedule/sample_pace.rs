//! Rate at which the samples of a path-traced picture arrive.

use std::time::Instant;

/// Sample rate, measured from the first sample that was seen.
#[derive(Debug, Default)]
pub(in crate::app) struct SamplePace {
    first: Option<(Instant, u32)>,
    last: Option<(Instant, u32)>,
}

impl SamplePace {
    /// Registers the number of samples at `now`. A smaller number than before belongs to another picture.
    pub(in crate::app) fn follow(&mut self, samples: Option<u32>, now: Instant) {
        let Some(samples) = samples else {
            *self = Self::default();
            return;
        };
        let before = self.last.map(|(_, before)| before);
        if before.is_none_or(|before| samples < before) {
            self.first = Some((now, samples));
        }
        if before != Some(samples) {
            self.last = Some((now, samples));
        }
    }

    /// Returns the estimated time in seconds until there are `wanted` samples. `None` if the rate is not
    /// known yet, or if there are already as many.
    pub(in crate::app) fn secs_left(&self, wanted: u32) -> Option<f64> {
        let ((begun, first), (latest, last)) = (self.first?, self.last?);
        let measured = last.checked_sub(first).filter(|samples| *samples > 0)?;
        let left = wanted.checked_sub(last).filter(|samples| *samples > 0)?;
        let secs = latest.duration_since(begun).as_secs_f64() / f64::from(measured);
        Some(secs * f64::from(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn remaining_time_is_extrapolated_from_the_samples_so_far() {
        let begun = Instant::now();
        let after = |secs| begun + Duration::from_secs(secs);
        let mut pace = SamplePace::default();
        pace.follow(Some(1), begun);
        assert_eq!(pace.secs_left(9), None, "nothing is known yet");
        pace.follow(Some(3), after(4));
        // Time without new samples does not count.
        pace.follow(Some(3), after(100));
        assert_eq!(pace.secs_left(9), Some(12.0));
        assert_eq!(pace.secs_left(3), None);
        // A smaller number of samples means another picture.
        pace.follow(Some(1), after(101));
        assert_eq!(pace.secs_left(9), None);
        pace.follow(Some(2), after(102));
        assert_eq!(pace.secs_left(9), Some(7.0));
        pace.follow(None, after(103));
        assert_eq!(pace.secs_left(9), None);
    }
}
