//! CPU time measurement.

use std::time::{Duration, Instant};

/// Stopwatch for wall time on the CPU.
#[derive(Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Creates a running stopwatch.
    #[expect(
        clippy::new_without_default,
        reason = "a default stopwatch would hide that it starts running"
    )]
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// Runs `work` without counting its time.
    pub fn exclude<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let outcome = work();
        self.0 += start.elapsed();
        outcome
    }

    /// Returns the milliseconds since the start.
    pub fn ms(&self) -> f64 {
        Duration::as_secs_f64(&self.0.elapsed()) * 1e3
    }
}
