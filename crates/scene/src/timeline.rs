//! Playback time in a clip: the loop range, and steps by frames.

use crate::settings::Animation;

/// Part of a clip that plays, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopRange {
    /// Start, at least 0.
    pub from: f32,
    /// End, which is after `from` unless the clip has no duration.
    pub to: f32,
}

impl LoopRange {
    /// Returns the range of the settings, clamped to a clip of this duration. It is the complete clip if the
    /// clamped range is empty.
    pub fn new(settings: &Animation, duration_secs: f32) -> Self {
        let whole = Self {
            from: 0.0,
            to: duration_secs,
        };
        let to = match settings.loop_to {
            0.0 => duration_secs,
            to => to.min(duration_secs),
        };
        match settings.loop_from < to {
            true => Self {
                from: settings.loop_from,
                to,
            },
            false => whole,
        }
    }

    /// Returns the time `seconds` after `time`, and true if it stopped at an end of the range. If `repeats`
    /// is set, time wraps around within the range and never stops. Time outside the range that runs towards
    /// it continues until it enters the range.
    pub fn advance(self, time: f32, seconds: f32, repeats: bool) -> (f32, bool) {
        let length = self.to - self.from;
        if length <= 0.0 {
            return (time, false);
        }
        let next = time + seconds;
        let is_beyond = match seconds >= 0.0 {
            true => next >= self.to || next < 0.0,
            false => next < self.from,
        };
        match (is_beyond, repeats) {
            (false, _) => (next, false),
            (true, true) => (self.from + (next - self.from).rem_euclid(length), false),
            (true, false) if seconds >= 0.0 && next >= 0.0 => (self.to, true),
            (true, false) if seconds < 0.0 => (self.from, true),
            (true, false) => (next, false),
        }
    }
}

/// Returns the time `frames` frames after the frame at `time`, or before it if negative, clamped to the
/// clip's duration. Frames are at integer multiples of 1 / `rate` seconds. From a time between two frames, a
/// single step goes to the next frame in its direction.
pub fn stepped(time: f32, frames: i32, rate: f32, duration_secs: f32) -> f32 {
    let now = f64::from(time) * f64::from(rate);
    let frame = match frames >= 0 {
        true => (now + near(now)).floor(),
        false => (now - near(now)).ceil(),
    };
    let stepped = (frame + f64::from(frames)) / f64::from(rate);
    stepped.clamp(0.0, f64::from(duration_secs.max(0.0))) as f32
}

/// Returns the index of the frame at `time`.
pub fn frame_number(time: f32, rate: f32) -> i64 {
    let frame = f64::from(time) * f64::from(rate);
    (frame + near(frame)).floor() as i64
}

/// Returns the tolerance for times that were computed from a frame's index, in frames. It covers f32
/// rounding.
fn near(frame: f64) -> f64 {
    1e-3 + frame.abs() * f64::from(f32::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn range(from: f32, to: f32, duration: f32) -> LoopRange {
        let mut settings = Settings::default().animation;
        (settings.loop_from, settings.loop_to) = (from, to);
        LoopRange::new(&settings, duration)
    }

    #[test]
    fn loop_ranges_are_clamped_to_the_clip() {
        let ends = |range: LoopRange| (range.from, range.to);
        assert_eq!(ends(range(0.0, 0.0, 4.0)), (0.0, 4.0));
        assert_eq!(ends(range(1.0, 0.0, 4.0)), (1.0, 4.0));
        assert_eq!(ends(range(1.0, 3.0, 4.0)), (1.0, 3.0));
        assert_eq!(ends(range(1.0, 9.0, 4.0)), (1.0, 4.0));
        assert_eq!(ends(range(3.0, 2.0, 4.0)), (0.0, 4.0), "nothing is left");
        assert_eq!(ends(range(5.0, 0.0, 4.0)), (0.0, 4.0), "it begins after the end");
        assert_eq!(ends(range(1.0, 2.0, 0.0)), (0.0, 0.0));
    }

    #[test]
    fn time_wraps_within_the_loop_range() {
        let looped = range(1.0, 3.0, 4.0);
        for (time, seconds, expected) in [
            (0.0, 0.5, 0.5),
            (2.5, 0.25, 2.75),
            (2.5, 0.5, 1.0),
            (2.5, 1.0, 1.5),
            (2.5, 5.0, 1.5),
            (3.5, 0.25, 1.75),
            (1.5, -0.25, 1.25),
            (1.25, -0.5, 2.75),
            (3.5, -0.25, 3.25),
        ] {
            let (found, ended) = looped.advance(time, seconds, true);
            assert_eq!((found, ended), (expected, false), "{time} {seconds}");
        }
        assert_eq!(looped.advance(2.5, 1.0, false), (3.0, true));
        assert_eq!(looped.advance(1.5, -1.0, false), (1.0, true));
        assert_eq!(looped.advance(2.0, 0.5, false), (2.5, false));
        // A range without duration does not advance, and long durations do not lose precision.
        assert_eq!(range(0.0, 0.0, 0.0).advance(0.7, 1.0, true), (0.7, false));
        assert_eq!(range(0.0, 0.0, 3600.0).advance(3599.5, 1.0, true).0, 0.5);
        assert_eq!(range(0.0, 0.0, 2.0).advance(-0.5, 0.25, true).0, 1.75);
    }

    #[test]
    fn steps_snap_to_whole_frames() {
        for (time, frames, expected) in [
            (0.0, 1, 0.1),
            (0.1, 1, 0.2),
            (0.3, -1, 0.2),
            (0.35, 1, 0.4),
            (0.35, -1, 0.3),
            (0.0, -1, 0.0),
            (0.95, 3, 1.0),
        ] {
            let found = stepped(time, frames, 10.0, 1.0);
            assert!((found - expected).abs() < 1e-6, "{time} {frames}: {found}");
        }
        assert_eq!(stepped(0.3, 1, 30.0, 0.0), 0.0);
        // Equal numbers of steps forwards and backwards, over an hour.
        let mut time = 3599.0;
        (0..30).for_each(|_| time = stepped(time, 1, 30.0, 3600.0));
        assert_eq!((time, frame_number(time, 30.0)), (3600.0, 108_000));
        (0..30).for_each(|_| time = stepped(time, -1, 30.0, 3600.0));
        assert_eq!(time, 3599.0);
    }
}
