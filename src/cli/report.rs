//! What a command tells of its own work on standard error: a line while it lasts, and one at its end.

use super::progress::{StatusLine, erase};
use crate::{gpu::profiler::Stopwatch, output::numbers::duration};
use std::io::Write;

/// The work of one command.
#[derive(Debug)]
pub(super) struct Report {
    quiet: bool,
    begun: Stopwatch,
    /// How far the work has come.
    pub(super) line: StatusLine,
}

impl Report {
    /// The work begins.
    pub(super) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            begun: Stopwatch::new(),
            line: StatusLine::new(quiet),
        }
    }

    /// Runs a stage of the work, and logs how long it took.
    pub(super) fn stage<T>(&self, stage: &str, what: &str, work: impl FnOnce() -> T) -> T {
        let stopwatch = Stopwatch::new();
        let result = work();
        log_stage(stage, stopwatch.ms(), what);
        result
    }

    /// The work is done: says what was written.
    pub(super) fn wrote(self, what: &str) {
        let took = duration(self.begun.ms() / 1e3);
        drop(self.line);
        if !self.quiet {
            // That nobody reads it is no failure.
            writeln!(std::io::stderr(), "{}wrote {what} in {took}", erase()).ok();
        }
    }
}

/// Logs a stage of the work for `-v`.
pub(super) fn log_stage(stage: &str, ms: f64, what: &str) {
    log::info!("{stage:<8} {:>9}  {what}", duration(ms / 1e3));
}
