//! Statistics of the shown BVHs. The nodes are read back without blocking and counted on a thread.

use crate::{
    Error, Result,
    app::schedule::PictureKey,
    render::{TreeCopy, TreeStatistics},
};
use std::{
    sync::mpsc,
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Minimum pause between two counts.
const PAUSE: Duration = Duration::from_secs(1);

/// The running count, and the state of the last one.
#[derive(Debug, Default)]
pub(in crate::app) struct CountedTrees {
    pub(in crate::app) counted: Option<PictureKey>,
    pub(in crate::app) counting: Option<(PictureKey, Step)>,
    /// Earliest time of the next count.
    rests_until: Option<Instant>,
    /// Counting thread, which is running or has just ended.
    thread: Option<JoinHandle<()>>,
}

/// Stage of a count.
#[derive(Debug)]
pub(in crate::app) enum Step {
    Reading(TreeCopy),
    OnThread(mpsc::Receiver<Result<TreeStatistics>>),
}

/// True if the BVHs are the same in both pictures.
pub(in crate::app) fn has_trees_of(picture: &PictureKey, other: &PictureKey) -> bool {
    picture.has_same_pose(other) && picture.config.tree == other.config.tree
}

impl CountedTrees {
    /// Drops everything on the lost device.
    pub(in crate::app) fn reset(&mut self) {
        (self.counted, self.counting) = (None, None);
    }

    /// True while nodes are being read back, which needs the GPU to be polled.
    pub(in crate::app) fn is_reading(&self) -> bool {
        matches!(self.counting, Some((_, Step::Reading(_))))
    }

    pub(in crate::app) fn are_of(&self, picture: &PictureKey) -> bool {
        let counted = self.counted.as_ref();
        counted.is_some_and(|counted| has_trees_of(counted, picture))
    }

    /// Returns when the BVHs of `picture` have to be counted. `None` if they have been counted or another
    /// count is running.
    pub(in crate::app) fn is_due(&self, picture: &PictureKey, now: Instant) -> Option<Instant> {
        match self.counting.is_some() || self.are_of(picture) {
            true => None,
            false => Some(self.rests_until.unwrap_or(now).max(now)),
        }
    }

    /// Starts the counting thread once the nodes have been read back. Returns the result of a finished count,
    /// once.
    pub(in crate::app) fn poll(
        &mut self,
        wake: impl FnOnce() + Send + 'static,
    ) -> Option<Result<TreeStatistics>> {
        let (picture, step) = self.counting.take()?;
        let outcome = match step {
            Step::Reading(copy) if copy.is_done() => {
                let cutoff = picture.config.tree.leaf_cutoff;
                let before = self.thread.take();
                let (sender, outcome) = mpsc::channel();
                self.thread = Some(std::thread::spawn(move || {
                    before.map(JoinHandle::join);
                    sender.send(copy.statistics(cutoff).map_err(Error::from)).ok();
                    wake();
                }));
                self.counting = Some((picture, Step::OnThread(outcome)));
                return None;
            }
            Step::Reading(copy) => {
                self.counting = Some((picture, Step::Reading(copy)));
                return None;
            }
            Step::OnThread(outcome) => match outcome.try_recv() {
                Ok(outcome) => outcome,
                Err(mpsc::TryRecvError::Empty) => {
                    self.counting = Some((picture, Step::OnThread(outcome)));
                    return None;
                }
                // The counting thread panicked. That is a bug in canopy but no reason to end the viewer.
                Err(mpsc::TryRecvError::Disconnected) => {
                    Err(Error::NotFound("counting failed unexpectedly".into()))
                }
            },
        };
        self.counted = Some(picture);
        self.rests_until = Some(Instant::now() + PAUSE);
        Some(outcome)
    }
}

impl Drop for CountedTrees {
    fn drop(&mut self) {
        // The driver must not be busy when the program ends.
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
