//! Quitting with Escape, which needs two presses. A press for a load that has just ended does not count.

use std::time::{Duration, Instant};

/// Time within which Escape has to be pressed again.
const AGAIN: Duration = Duration::from_millis(2500);

/// Time after the end of a load in which Escape is taken to be meant for the load.
const AFTER_LOAD: Duration = Duration::from_millis(1000);

/// Effect of Escape if there is nothing left to close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Answer {
    /// The viewer quits.
    Quit,
    /// A notice asks for a second press.
    AskAgain,
    /// The press has no effect.
    Ignore,
}

/// Times of the last relevant events.
#[derive(Debug, Default)]
pub(in crate::app) struct Leaving {
    asked: Option<Instant>,
    asked_with_export: Option<Instant>,
    load_ended: Option<Instant>,
}

impl Leaving {
    /// Registers that a load has ended or was cancelled.
    pub(in crate::app) fn ended_load(&mut self, now: Instant) {
        (self.asked, self.load_ended) = (None, Some(now));
    }

    /// Handles a press of Escape that had nothing to close.
    pub(in crate::app) fn ask(&mut self, now: Instant) -> Answer {
        if is_within(self.load_ended, AFTER_LOAD, now) {
            return Answer::Ignore;
        }
        let asked = self.asked.replace(now);
        if is_within(asked, AGAIN, now) {
            Answer::Quit
        } else {
            Answer::AskAgain
        }
    }

    /// True if quitting was requested twice during an export.
    pub(in crate::app) fn gives_up_export(&mut self, now: Instant) -> bool {
        let asked = self.asked_with_export.replace(now);
        is_within(asked, AGAIN, now)
    }
}

fn is_within(since: Option<Instant>, time: Duration, now: Instant) -> bool {
    since.is_some_and(|since| now.saturating_duration_since(since) < time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_quits_on_the_second_press_but_not_just_after_a_load() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut leaving = Leaving::default();
        assert_eq!(leaving.ask(at(0)), Answer::AskAgain);
        assert_eq!(leaving.ask(at(2600)), Answer::AskAgain, "too late");
        assert_eq!(leaving.ask(at(3000)), Answer::Quit);
        leaving.ended_load(at(3100));
        assert_eq!(leaving.ask(at(3200)), Answer::Ignore);
        assert_eq!(leaving.ask(at(3300)), Answer::Ignore);
        assert_eq!(leaving.ask(at(4200)), Answer::AskAgain);
        assert_eq!(leaving.ask(at(4400)), Answer::Quit);
        assert!(!leaving.gives_up_export(at(5000)));
        assert!(leaving.gives_up_export(at(6000)));
        assert!(!leaving.gives_up_export(at(9000)), "too late");
    }
}
