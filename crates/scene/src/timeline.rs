//! Time in a clip: the part of it that repeats, and steps by frames.

use crate::settings::Animation;

/// The part of a clip that plays, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoopRange {
    /// Where it begins, at least 0.
    pub from: f32,
    /// Where it ends, after `from` unless the clip has no length.
    pub to: f32,
}

impl LoopRange {
    /// The range of the settings within a clip of this length; the whole clip where the settings leave
    /// nothing of it.
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

    /// The time so many seconds after `time`, and whether the end was reached. Where time `repeats`, it
    /// begins again at the other end of the range; else it stops there. Outside of the range it goes on until
    /// it comes in.
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

/// The time of the frame that is `frames` after the one at `time`, or before it, within a clip of this
/// length. Frames are at whole multiples of 1 / `rate` seconds; between two, the next one is the nearer in
/// that direction.
pub fn stepped(time: f32, frames: i32, rate: f32, duration_secs: f32) -> f32 {
    let now = f64::from(time) * f64::from(rate);
    let frame = match frames >= 0 {
        true => (now + near(now)).floor(),
        false => (now - near(now)).ceil(),
    };
    let stepped = (frame + f64::from(frames)) / f64::from(rate);
    stepped.clamp(0.0, f64::from(duration_secs.max(0.0))) as f32
}

/// The number of the frame at `time`, from 0.
pub fn frame_number(time: f32, rate: f32) -> i64 {
    let frame = f64::from(time) * f64::from(rate);
    (frame + near(frame)).floor() as i64
}

/// How far a time that was computed from a frame's number may be beside it, in frames: f32 rounds it.
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
    fn ranges_lie_within_the_clip() {
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
    fn time_begins_again_within_the_range() {
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
        // What has no length stands still, and an hour is no shorter than it is.
        assert_eq!(range(0.0, 0.0, 0.0).advance(0.7, 1.0, true), (0.7, false));
        assert_eq!(range(0.0, 0.0, 3600.0).advance(3599.5, 1.0, true).0, 0.5);
        assert_eq!(range(0.0, 0.0, 2.0).advance(-0.5, 0.25, true).0, 1.75);
    }

    #[test]
    fn steps_go_from_frame_to_frame() {
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
        // As many steps forth as back, over an hour.
        let mut time = 3599.0;
        (0..30).for_each(|_| time = stepped(time, 1, 30.0, 3600.0));
        assert_eq!((time, frame_number(time, 30.0)), (3600.0, 108_000));
        (0..30).for_each(|_| time = stepped(time, -1, 30.0, 3600.0));
        assert_eq!(time, 3599.0);
    }
}
