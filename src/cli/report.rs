//! Status of a command on standard error: a progress line, and a summary at the end.

use super::progress::{StatusLine, erase};
use crate::{gpu::profiler::Stopwatch, output::numbers::duration};
use std::io::Write;

/// Report of one command.
#[derive(Debug)]
pub(super) struct Report {
    quiet: bool,
    begun: Stopwatch,
    /// Progress line.
    pub(super) line: StatusLine,
}

impl Report {
    /// Creates the report and starts its clock.
    pub(super) fn new(quiet: bool) -> Self {
        Self {
            quiet,
            begun: Stopwatch::new(),
            line: StatusLine::new(quiet),
        }
    }

    /// Runs a stage of the work and logs its duration.
    pub(super) fn stage<T>(&self, stage: &str, what: &str, work: impl FnOnce() -> T) -> T {
        let stopwatch = Stopwatch::new();
        let result = work();
        log_stage(stage, stopwatch.ms(), what);
        result
    }

    /// Ends the progress line and prints the summary, which consists of `what` and the elapsed time.
    pub(super) fn wrote(self, what: &str) {
        let took = duration(self.begun.ms() / 1e3);
        drop(self.line);
        if !self.quiet {
            // Failing to print the summary is not an error.
            writeln!(std::io::stderr(), "{}wrote {what} in {took}", erase()).ok();
        }
    }
}

/// Logs the duration of a stage, for `-v`.
pub(super) fn log_stage(stage: &str, ms: f64, what: &str) {
    log::info!("{stage:<8} {:>9}  {what}", duration(ms / 1e3));
}
