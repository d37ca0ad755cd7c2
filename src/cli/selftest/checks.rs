//! Checks of a self-test, and the lines that report them.

use crate::{Result, cli::console::print, gpu::profiler::Stopwatch};
use serde_json::{Value, json};

/// Result of a check: a description of the comparison, or of the fault.
pub(super) type Verdict = Result<String, String>;

/// Returns the larger of two errors. NaN counts as the largest.
pub(super) fn worse(a: f64, b: f64) -> f64 {
    if a >= b || a.is_nan() { a } else { b }
}

/// Passes if the largest error is within the tolerance.
pub(super) fn within(worst: f64, tolerance: f64, unit: &str) -> Verdict {
    let text = format!("error at most {worst:.1e} {unit}");
    if worst <= tolerance { Ok(text) } else { Err(text) }
}

/// A completed check.
#[derive(Debug)]
pub(super) struct Check {
    implementation: String,
    name: String,
    found: Verdict,
    secs: f64,
}

/// Checks of a run, printed as they complete.
#[derive(Debug, Default)]
pub(super) struct Checks {
    pub(super) made: Vec<Check>,
    pub(super) is_quiet: bool,
}

impl Checks {
    /// Runs a check. An error counts as a fault.
    pub(super) fn make(&mut self, implementation: &str, name: &str, check: impl FnOnce() -> Result<Verdict>) {
        let stopwatch = Stopwatch::new();
        let found = check().unwrap_or_else(|error| Err(error.to_string()));
        self.add(implementation, name, found, stopwatch.ms() / 1e3);
    }

    pub(super) fn add(&mut self, implementation: &str, name: &str, found: Verdict, secs: f64) {
        let check = Check {
            implementation: implementation.into(),
            name: name.into(),
            found,
            secs,
        };
        if !self.is_quiet {
            // A closed pipe does not stop the run, so that the exit code is still correct.
            print(&check.line()).ok();
        }
        self.made.push(check);
    }

    pub(super) fn failed(&self) -> usize {
        self.made.iter().filter(|check| check.found.is_err()).count()
    }
}

impl Check {
    pub(super) fn line(&self) -> String {
        let (word, what) = match &self.found {
            Ok(what) => ("ok", what),
            Err(what) => ("FAILED", what),
        };
        let Self {
            implementation, name, ..
        } = self;
        format!("{word:<7} {implementation:<12} {name:<26} {what}\n")
    }

    pub(super) fn json(&self) -> Value {
        let (is_ok, what) = match &self.found {
            Ok(what) => (true, what),
            Err(what) => (false, what),
        };
        json!({
            "implementation": self.implementation,
            "check": self.name,
            "ok": is_ok,
            "found": what,
            "secs": self.secs,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn nan_is_the_worst_error() {
        for errors in [[1.0, f64::NAN, 2.0], [f64::NAN, 1.0, 2.0], [1.0, 2.0, f64::NAN]] {
            let worst = errors.into_iter().fold(0.0, worse);
            assert!(within(worst, 10.0, "metres").is_err(), "{errors:?}");
        }
        assert_eq!([1.0, 3.0, 2.0].into_iter().fold(0.0, worse), 3.0);
        assert!(within(3.0, 3.0, "metres").is_ok() && within(3.1, 3.0, "metres").is_err());
    }

    #[test]
    fn faults_and_errors_count_as_failures() {
        let mut checks = Checks {
            is_quiet: true,
            ..Checks::default()
        };
        checks.make("a", "right", || Ok(Ok("3 values".into())));
        checks.make("a", "wrong", || Ok(Err("2 values differ".into())));
        checks.make("b", "broken", || Err(Error::Gpu("the device is gone".into())));
        assert_eq!(checks.failed(), 2);
        let lines: Vec<_> = checks.made.iter().map(Check::line).collect();
        assert!(lines[0].starts_with("ok ") && lines[1].starts_with("FAILED "));
        assert!(lines[2].ends_with("the device is gone\n"), "{}", lines[2]);
        assert_eq!(checks.made[1].json()["ok"], false);
    }
}
