//! One line on standard error that shows how far a long measurement has come.

use crate::gpu::profiler::Stopwatch;
use std::io::{IsTerminal, Write};

/// Time before anything is shown.
const PATIENCE_MS: f64 = 1000.0;
/// Characters of the bar.
const WIDTH: usize = 24;

/// The line, which is shown on a terminal only.
#[derive(Debug)]
pub(super) struct ProgressLine {
    stopwatch: Stopwatch,
    visible: bool,
    drawn: bool,
    done: usize,
    total: usize,
}

impl ProgressLine {
    /// A line for `total` steps.
    pub(super) fn new(quiet: bool, total: usize) -> Self {
        Self {
            stopwatch: Stopwatch::new(),
            visible: !quiet && std::io::stderr().is_terminal(),
            drawn: false,
            done: 0,
            total,
        }
    }

    /// Begins the next step.
    pub(super) fn step(&mut self, what: &str) {
        if self.visible && self.stopwatch.ms() > PATIENCE_MS {
            let full = WIDTH * self.done / self.total.max(1);
            let bar = format!(
                "{:#<full$}{:.<rest$}",
                "",
                "",
                rest = WIDTH - full.min(WIDTH)
            );
            // That nobody sees it is no failure.
            write!(
                std::io::stderr(),
                "\r\x1b[K[{bar}] {}/{} {what}",
                self.done + 1,
                self.total
            )
            .ok();
            self.drawn = true;
        }
        self.done += 1;
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.drawn {
            write!(std::io::stderr(), "\r\x1b[K").ok();
        }
    }
}
