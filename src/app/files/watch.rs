//! Watches files: a thread looks at their times and sizes, and calls back once a change has settled.

use std::{
    path::PathBuf,
    sync::mpsc::{self, RecvTimeoutError},
    time::{Duration, SystemTime},
};

/// Time between two looks at a scene's files, which may be on a slow disk.
pub(in crate::app) const INTERVAL: Duration = Duration::from_millis(400);
/// Time between two looks at shaders, whose changes are waited for.
pub(in crate::app) const SHORT_INTERVAL: Duration = Duration::from_millis(100);

/// What is known of a file; `None` while it is missing, as editors leave it for a moment.
type Stamp = Option<(SystemTime, u64)>;

/// Watches files as long as it lives.
#[derive(Debug)]
pub(in crate::app) struct Watch {
    files: Vec<PathBuf>,
    /// Dropping it ends the thread.
    _end: mpsc::Sender<()>,
}

/// The watches on what is shown.
#[derive(Debug, Default)]
pub(in crate::app) struct Watches {
    /// On the scene's files.
    pub(in crate::app) scene: Option<Watch>,
    /// On the environment's file.
    pub(in crate::app) environment: Option<Watch>,
    /// On the files of the surface that is compared with.
    pub(in crate::app) compared: Option<Watch>,
    /// On the files of shaders, if they are read from a folder.
    pub(in crate::app) shaders: Option<Watch>,
}

impl Watch {
    /// Watches `files`, looking at them so often. After each change that has settled, `changed` is called on a thread.
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

    /// The files.
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

/// Tells settled changes from files that are still being written.
#[derive(Debug)]
struct Changes {
    /// As they were at the start, or when a change was last reported.
    known: Vec<Stamp>,
    /// As they were at the last look.
    last: Vec<Stamp>,
}

impl Changes {
    fn new(stamps: Vec<Stamp>) -> Self {
        Self {
            last: stamps.clone(),
            known: stamps,
        }
    }

    /// Whether files have changed that are the same in two looks and all there. A file that was missing at the
    /// start may stay away.
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
    fn a_change_is_told_once_it_has_settled() {
        let stamp = |size: u64| Some((SystemTime::UNIX_EPOCH, size));
        let mut changes = Changes::new(vec![stamp(1), None]);
        let mut looks = |looks: &[(Stamp, Stamp)]| -> Vec<bool> {
            looks.iter().map(|(a, b)| changes.settled(vec![*a, *b])).collect()
        };
        assert_eq!(looks(&[(stamp(1), None), (stamp(1), None)]), [false, false]);
        // Written in three parts.
        let written = [2, 3, 4, 4, 4].map(|size| (stamp(size), None));
        assert_eq!(looks(&written), [false, false, false, true, false]);
        // Renamed over: it is missing for two looks.
        let renamed = [None, None, stamp(5), stamp(5)].map(|a| (a, None));
        assert_eq!(looks(&renamed), [false, false, false, true]);
        // A texture that was missing appears.
        let appears = [(stamp(5), stamp(1)), (stamp(5), stamp(1))];
        assert_eq!(looks(&appears), [false, true]);
        // Written and written back between two looks.
        assert_eq!(looks(&[(stamp(5), stamp(1))]), [false]);
    }

    #[test]
    fn files_on_disk_are_watched_until_it_is_dropped() {
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
