//! A suite while it is measured.

use super::{args::BenchArgs, progress::Progress, report::Report, timing::Meter};
use crate::config::Config;

/// A suite while it is measured.
#[derive(Debug)]
pub(super) struct Session<'a> {
    pub(super) args: &'a BenchArgs,
    pub(super) config: &'a Config,
    pub(super) quiet: bool,
    /// Whether the adapter is a software renderer: sizes are small.
    pub(super) software: bool,
    /// The device that compute passes are measured on.
    pub(super) meter: Meter,
    pub(super) report: Report,
}

impl Session<'_> {
    /// A line that shows how many of so many steps are done.
    pub(super) fn progress(&self, steps: usize) -> Progress {
        Progress::new(self.quiet, steps)
    }
}
