//! One line on standard error that says how far a long measurement has come.

use crate::gpu::profiler::Stopwatch;
use std::io::{IsTerminal, Write};

/// Nothing is shown before it has taken so long.
const PATIENCE_MS: f64 = 1000.0;
/// Signs of the bar.
const WIDTH: usize = 24;

/// The line; it only shows on a terminal.
#[derive(Debug)]
pub(super) struct Progress {
    stopwatch: Stopwatch,
    visible: bool,
    drawn: bool,
    done: usize,
    total: usize,
}

impl Progress {
    /// Of `total` steps.
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

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            write!(std::io::stderr(), "\r\x1b[K").ok();
        }
    }
}
