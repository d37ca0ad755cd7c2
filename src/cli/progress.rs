//! Progress line on standard error, shown only on a terminal.

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

/// Delay before the line is first shown.
const TIMEOUT: Duration = Duration::from_secs(1);
/// Time between updates of the line.
const PERIOD: Duration = Duration::from_millis(150);
/// Width of the bar in characters.
const BAR: usize = 24;
/// Assumed width of a terminal that does not report its own.
const COLUMNS: usize = 80;
/// Returns to the start of the line and erases it.
const ERASE: &str = "\r\x1b[K";

/// True while a line is on the terminal, which other output has to erase first.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// Returns the escape sequence to write before other output to standard error.
pub(super) fn erase() -> &'static str {
    if IS_DRAWN.swap(false, Ordering::Relaxed) {
        ERASE
    } else {
        ""
    }
}

/// The progress line. A thread draws it until it is dropped. Without a terminal there is no thread.
#[derive(Debug)]
pub(super) struct StatusLine {
    drawing: Option<(Arc<Shared>, JoinHandle<()>)>,
}

#[derive(Debug)]
struct Shared {
    activity: Mutex<Activity>,
    /// True once the line is dropped, which ends the thread.
    ended: Mutex<bool>,
    end: Condvar,
}

/// Current activity.
#[derive(Debug)]
enum Activity {
    Stage(String),
    Loading(Arc<scene::Progress>),
    Steps {
        what: String,
        done: u64,
        total: u64,
        /// Time and step count at the end of the first step. The first step may compile shaders, so it is
        /// excluded from the estimate.
        measured: Option<(Instant, u64)>,
    },
}

impl StatusLine {
    /// Creates a line without an activity.
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

    /// Shows `what` as the current work, whose number of steps is unknown.
    pub(super) fn stage(&self, what: &str) {
        self.change(|activity| *activity = Activity::Stage(what.into()));
    }

    /// Shows the progress of loading a scene.
    pub(super) fn loading(&self, progress: &Arc<scene::Progress>) {
        self.change(|activity| *activity = Activity::Loading(progress.clone()));
    }

    /// Shows `what` as the current step, with `done` of `total` steps finished.
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
            // The thread has no result, and failing to draw the line is not an error.
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
            if begun.elapsed() > TIMEOUT && !*ended {
                let line = lock(&self.activity).line(Instant::now(), longest());
                let mut stderr = std::io::stderr().lock();
                // Set before writing, because other threads may write as soon as the lock is released.
                IS_DRAWN.store(true, Ordering::Relaxed);
                // Failing to show progress is not an error.
                write!(stderr, "{ERASE}{line}").ok();
            }
        }
        write!(std::io::stderr(), "{}", erase()).ok();
    }
}

/// Returns the maximum length of the line. A line as wide as the terminal would wrap.
fn longest() -> usize {
    let size = terminal_size::terminal_size_of(std::io::stderr());
    let columns = size.map_or(0, |(width, _)| usize::from(width.0));
    // Some terminals report a width of 0.
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
    fn progress_lines_show_done_and_remaining_work() {
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
        // There is no estimate after the first step.
        assert!(!steps(1, Some((begun, 1))).line(later, 79).contains("left"));
        let long = Activity::Stage("ü".repeat(200)).line(later, 39);
        assert_eq!(long.chars().count(), 39);
        assert!(longest() > 0);
    }

    #[test]
    fn quiet_progress_draws_nothing() {
        let line = StatusLine::new(true);
        line.step(1, 2, "unseen");
        assert!(line.drawing.is_none() && erase().is_empty());
    }
}
