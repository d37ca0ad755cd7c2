//! Progress line of a benchmark suite.

use crate::cli::progress::StatusLine;

/// Count of the finished steps of a suite, shown as a line on a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    line: StatusLine,
    done: u64,
    total: u64,
}

impl Progress {
    /// Creates a counter of `total` steps.
    pub(super) fn new(quiet: bool, total: usize) -> Self {
        Self {
            line: StatusLine::new(quiet),
            done: 0,
            total: total as u64,
        }
    }

    /// Starts the next step.
    pub(super) fn step(&mut self, what: &str) {
        let what = format!("{} of {}: {what}", self.done + 1, self.total);
        self.line.step(self.done, self.total, what);
        self.done += 1;
    }
}
