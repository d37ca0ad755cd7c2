//! State of a running suite.

use super::{args::BenchArgs, progress::Progress, report::Report, timing::Meter};
use crate::config::Config;

/// State of a running suite.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) args: &'a BenchArgs,
    pub(super) config: &'a Config,
    pub(super) quiet: bool,
    /// True if the adapter is a software renderer, which gets smaller workloads.
    pub(super) software: bool,
    /// Device for measuring compute passes.
    pub(super) meter: Meter,
    pub(super) report: Report,
}

impl Session<'_> {
    /// Creates a progress line of `steps` steps.
    pub(super) fn progress(&self, steps: usize) -> Progress {
        Progress::new(self.quiet, steps)
    }
}
