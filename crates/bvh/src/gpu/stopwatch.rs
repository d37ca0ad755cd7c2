//! Time on the CPU.

use std::time::{Duration, Instant};

/// A stopwatch for the CPU side.
#[derive(Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(
        clippy::new_without_default,
        reason = "a default stopwatch would hide that it starts running"
    )]
    pub fn new() -> Self {
        Self(Instant::now())
    }

    /// Runs `work` and does not count it.
    pub fn without<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let outcome = work();
        self.0 += start.elapsed();
        outcome
    }

    /// Milliseconds since the start.
    pub fn ms(&self) -> f64 {
        Duration::as_secs_f64(&self.0.elapsed()) * 1e3
    }
}
