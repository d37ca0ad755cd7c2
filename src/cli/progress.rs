//! One line on standard error that shows how far long work has come, on a terminal only.

use crate::{output::numbers::duration_left, scene};
use std::{
    io::{IsTerminal, Write},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Time before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
/// Time between two drawings of the line.
const PERIOD: Duration = Duration::from_millis(150);
/// Characters of the bar.
const BAR: usize = 24;
/// Columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;
/// Back to the start of the line, and the rest of it erased.
const ERASE: &str = "\r\x1b[K";

/// Whether a line is on the terminal, which other output has to erase.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// What there is to write before other output to standard error.
pub(super) fn erase() -> &'static str {
    if IS_DRAWN.swap(false, Ordering::Relaxed) {
        ERASE
    } else {
        ""
    }
}

/// The line. A thread draws it until it is dropped; where nobody would see it there is no thread.
#[derive(Debug)]
pub(super) struct StatusLine {
    drawing: Option<(Arc<Shared>, JoinHandle<()>)>,
}

#[derive(Debug)]
struct Shared {
    activity: Mutex<Activity>,
    /// The line is dropped.
    ended: Mutex<bool>,
    end: Condvar,
}

/// What is being done.
#[derive(Debug)]
enum Activity {
    Stage(String),
    Loading(Arc<scene::Progress>),
    Steps {
        what: String,
        done: u64,
        total: u64,
        /// The end of the first step and the steps that were done then: it may have compiled shaders, so it
        /// says nothing about the others.
        measured: Option<(Instant, u64)>,
    },
}

impl StatusLine {
    /// A line that shows nothing yet.
    pub(super) fn new(quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self { drawing: None };
        }
        let shared = Arc::new(Shared {
            activity: Mutex::new(Activity::Stage(String::new())),
            ended: Mutex::new(false),
            end: Condvar::new(),
        });
        let drawn = shared.clone();
        let thread = std::thread::spawn(move || drawn.draw_until_ended());
        Self {
            drawing: Some((shared, thread)),
        }
    }

    /// Begins work that nobody counts.
    pub(super) fn stage(&self, what: &str) {
        self.change(|activity| *activity = Activity::Stage(what.into()));
    }

    /// Begins to load a scene.
    pub(super) fn loading(&self, progress: &Arc<scene::Progress>) {
        self.change(|activity| *activity = Activity::Loading(progress.clone()));
    }

    /// Begins a step: `done` of `total` have ended.
    pub(super) fn step(&self, done: u64, total: u64, what: impl Into<String>) {
        self.change(|activity| {
            let before = match activity {
                Activity::Steps { measured, .. } => *measured,
                _ => None,
            };
            let measured = before.or_else(|| (done > 0).then(|| (Instant::now(), done)));
            *activity = Activity::Steps {
                what: what.into(),
                done,
                total,
                measured,
            };
        });
    }

    fn change(&self, change: impl FnOnce(&mut Activity)) {
        if let Some((shared, _)) = &self.drawing {
            change(&mut lock(&shared.activity));
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        if let Some((shared, thread)) = self.drawing.take() {
            *lock(&shared.ended) = true;
            shared.end.notify_all();
            // It has no result, and a line that was not drawn is no failure.
            thread.join().ok();
        }
    }
}

impl Shared {
    fn draw_until_ended(&self) {
        let begun = Instant::now();
        let mut ended = lock(&self.ended);
        while !*ended {
            let waited = self.end.wait_timeout(ended, PERIOD);
            (ended, _) = waited.unwrap_or_else(PoisonError::into_inner);
            if begun.elapsed() > PATIENCE && !*ended {
                let line = lock(&self.activity).line(Instant::now(), longest());
                let mut stderr = std::io::stderr().lock();
                // First: others may write as soon as the lock is free.
                IS_DRAWN.store(true, Ordering::Relaxed);
                // That nobody sees it is no failure.
                write!(stderr, "{ERASE}{line}").ok();
            }
        }
        write!(std::io::stderr(), "{}", erase()).ok();
    }
}

/// Characters that a line may have: one that is as wide as the terminal would go on in the next row.
fn longest() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    let columns = size.map_or(0, |(width, _)| usize::from(width.0));
    // Some terminals say that they have none.
    let columns = if columns == 0 { COLUMNS } else { columns };
    columns - 1
}

impl Activity {
    fn line(&self, now: Instant, longest: usize) -> String {
        let line = match self {
            Self::Stage(what) => what.clone(),
            Self::Loading(progress) => {
                format!("{} {}", bar(f64::from(progress.fraction())), progress.stage())
            }
            Self::Steps {
                what,
                done,
                total,
                measured,
            } => {
                let left = measured.and_then(|(at, first)| {
                    let measured = done.checked_sub(first).filter(|&steps| steps > 0)?;
                    let secs = now.duration_since(at).as_secs_f64() / measured as f64;
                    Some(secs * total.saturating_sub(*done) as f64)
                });
                let left = left.map(|secs| format!(", {} left", duration_left(secs)));
                let share = *done as f64 / (*total).max(1) as f64;
                format!("{} {what}{}", bar(share), left.unwrap_or_default())
            }
        };
        match line.char_indices().nth(longest) {
            Some((end, _)) => line[..end].to_owned(),
            None => line,
        }
    }
}

fn bar(share: f64) -> String {
    let full = (BAR as f64 * share.clamp(0.0, 1.0)) as usize;
    format!("[{}{}]", "#".repeat(full), ".".repeat(BAR - full))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_say_what_is_done_and_what_is_left() {
        let begun = Instant::now();
        let steps = |done, measured| Activity::Steps {
            what: "frame 3 of 8".into(),
            done,
            total: 8,
            measured,
        };
        let later = begun + Duration::from_secs(20);
        assert_eq!(
            steps(0, None).line(later, 79),
            "[........................] frame 3 of 8"
        );
        assert_eq!(
            steps(3, Some((begun, 1))).line(later, 79),
            "[#########...............] frame 3 of 8, 50 s left"
        );
        let soon = steps(7, Some((later - Duration::from_secs(3), 1))).line(later, 79);
        assert!(soon.ends_with(", 1 s left"), "{soon}");
        // The first step is no measure of the others.
        assert!(!steps(1, Some((begun, 1))).line(later, 79).contains("left"));
        let long = Activity::Stage("ü".repeat(200)).line(later, 39);
        assert_eq!(long.chars().count(), 39);
        assert!(longest() > 0);
    }

    #[test]
    fn nobody_at_a_terminal_sees_nothing() {
        let line = StatusLine::new(true);
        line.step(1, 2, "unseen");
        assert!(line.drawing.is_none() && erase().is_empty());
    }
}
