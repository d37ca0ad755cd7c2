//! File watcher: a thread polls modification times and sizes, and calls back once a change has settled.

use std::{
    path::PathBuf,
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, SystemTime},
};

/// Poll interval for a scene's files, which may be on a slow disk.
pub(in crate::app) const INTERVAL: Duration = Duration::from_millis(400);
/// Poll interval for shaders. It is shorter, because the user of hot reload waits for the result.
pub(in crate::app) const SHORT_INTERVAL: Duration = Duration::from_millis(100);

/// Modification time and size of a file. `None` while it is missing, for example while an editor replaces it.
type Stamp = Option<(SystemTime, u64)>;

/// Watch on a set of files. Dropping it ends the watching.
#[derive(Debug)]
pub(in crate::app) struct Watch {
    files: Vec<PathBuf>,
    /// Dropping this sender ends the thread.
    _end: mpsc::Sender<()>,
}

/// All file watches.
#[derive(Debug, Default)]
pub(in crate::app) struct Watches {
    /// Watch on the scene's files.
    pub(in crate::app) scene: Option<Watch>,
    /// Watch on the environment file.
    pub(in crate::app) environment: Option<Watch>,
    /// Watch on the files of the reference surface of the deviation.
    pub(in crate::app) compared: Option<Watch>,
    /// Watch on the shader files, if they are read from a folder.
    pub(in crate::app) shaders: Option<Watch>,
}

impl Watch {
    /// Watches `files` by polling them at `interval`. The polling thread calls `changed` after each settled
    /// change.
    pub(in crate::app) fn new(
        files: Vec<PathBuf>,
        interval: Duration,
        changed: impl Fn() + Send + 'static,
    ) -> Self {
        let (end, ended) = mpsc::channel();
        let mut changes = Changes::new(stamps(&files));
        let watched = files.clone();
        std::thread::spawn(move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                if changes.settled(stamps(&watched)) {
                    changed();
                }
            }
        });
        Self { files, _end: end }
    }

    /// Returns the watched files.
    pub(in crate::app) fn files(&self) -> &[PathBuf] {
        &self.files
    }
}

fn stamps(files: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |file: &PathBuf| {
        let metadata = std::fs::metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    files.iter().map(stamp).collect()
}

/// Detector of settled changes. Files that are still being written are not reported.
#[derive(Debug)]
struct Changes {
    /// Stamps at the last reported change, or at the start.
    known: Vec<Stamp>,
    /// Stamps at the last poll.
    last: Vec<Stamp>,
}

impl Changes {
    fn new(stamps: Vec<Stamp>) -> Self {
        Self {
            last: stamps.clone(),
            known: stamps,
        }
    }

    /// Takes the stamps of a poll. Returns true if files have changed since the last report, but not since
    /// the previous poll, and none has vanished. Files that were missing before may stay missing.
    fn settled(&mut self, now: Vec<Stamp>) -> bool {
        let is_still = now == self.last;
        self.last = now;
        let gone = |(known, last): (&Stamp, &Stamp)| known.is_some() && last.is_none();
        let is_missing = self.known.iter().zip(&self.last).any(gone);
        if !is_still || is_missing || self.last == self.known {
            return false;
        }
        self.known.clone_from(&self.last);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_reported_once_it_has_settled() {
        let stamp = |size: u64| Some((SystemTime::UNIX_EPOCH, size));
        let mut changes = Changes::new(vec![stamp(1), None]);
        let mut looks = |looks: &[(Stamp, Stamp)]| -> Vec<bool> {
            looks.iter().map(|(a, b)| changes.settled(vec![*a, *b])).collect()
        };
        assert_eq!(looks(&[(stamp(1), None), (stamp(1), None)]), [false, false]);
        // A file is written in three parts.
        let written = [2, 3, 4, 4, 4].map(|size| (stamp(size), None));
        assert_eq!(looks(&written), [false, false, false, true, false]);
        // A file is replaced by renaming and is missing for two polls.
        let renamed = [None, None, stamp(5), stamp(5)].map(|a| (a, None));
        assert_eq!(looks(&renamed), [false, false, false, true]);
        // A missing texture appears.
        let appears = [(stamp(5), stamp(1)), (stamp(5), stamp(1))];
        assert_eq!(looks(&appears), [false, true]);
        // A change is reverted between two polls.
        assert_eq!(looks(&[(stamp(5), stamp(1))]), [false]);
    }

    #[test]
    fn files_are_watched_until_the_watch_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.obj");
        std::fs::write(&file, "1").unwrap();
        let (sender, receiver) = mpsc::channel();
        let watch = Watch::new(vec![file.clone()], INTERVAL, move || {
            sender.send(()).ok();
        });
        let next = folder.path().join("b.obj");
        std::fs::write(&next, "22").unwrap();
        std::fs::rename(&next, &file).unwrap();
        receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        drop(watch);
        assert!(receiver.recv_timeout(Duration::from_secs(60)).is_err());
    }
}
