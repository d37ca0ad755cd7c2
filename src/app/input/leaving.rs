//! Quitting with Escape, which needs two presses. A press just after the end of a load does not count,
//! because it was probably meant to cancel the load.

use std::time::{Duration, Instant};

/// Maximum time between the two requests that quit.
const AGAIN: Duration = Duration::from_millis(2500);

/// Time after the end of a load during which Escape is ignored.
const AFTER_LOAD: Duration = Duration::from_millis(1000);

/// Effect of Escape when there is nothing left to close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Answer {
    /// The viewer quits.
    Quit,
    /// A notice asks for a second press.
    AskAgain,
    /// The press has no effect.
    Ignore,
}

/// Times of the last requests to quit, and of the end of the last load.
#[derive(Debug, Default)]
pub(in crate::app) struct Leaving {
    asked: Option<Instant>,
    asked_with_export: Option<Instant>,
    load_ended: Option<Instant>,
}

impl Leaving {
    /// Registers that a load has ended or was cancelled. A previous press of Escape no longer counts.
    pub(in crate::app) fn ended_load(&mut self, now: Instant) {
        (self.asked, self.load_ended) = (None, Some(now));
    }

    /// Registers a press of Escape that had nothing to close, and returns its effect.
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

    /// Registers a request to quit during an export. Returns true if it is the second one within a short
    /// time, so that the export is to be cancelled.
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
