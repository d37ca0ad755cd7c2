//! Figures of the deviation that the window shows: what the GPU has deformed is read back without a wait, and
//! measured on a thread, as `canopy deviation` does it.

use crate::{
    Error, Result,
    app::schedule::PictureKey,
    gpu::Gpu,
    render::{
        GeometryCopy,
        geometry::shown::Shown,
        inspect::compared_tree::{Batches, ComparedTree},
    },
    scene::deviation::{SAMPLES, Statistics},
};
use std::{
    ops::Range,
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Shortest pause between two measurements. It is as long as the one before took, if that is longer.
const PAUSE: Duration = Duration::from_millis(200);

/// What is measured: everything that the figures depend on.
#[derive(Debug, Clone)]
pub(in crate::app) struct Subject {
    pub(in crate::app) picture: PictureKey,
    /// In metres.
    pub(in crate::app) tolerance: f32,
}

/// The measurement that is under way, and what is known of the last one.
#[derive(Debug, Default)]
pub(in crate::app) struct DeviationFigures {
    measured: Option<Subject>,
    measuring: Option<Measuring>,
    /// When the next one may begin.
    rests_until: Option<Instant>,
    /// Measures, or has just ended.
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Measuring {
    subject: Subject,
    begun: Instant,
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// All triangles are being read back; of these ranges some are shown.
    Reading(GeometryCopy, Vec<Range<u32>>),
    OnThread(mpsc::Receiver<Result<Statistics>>, Arc<Batches>),
}

impl Subject {
    /// Whether figures of `other` hold for this too.
    fn is_that_of(&self, other: &Self) -> bool {
        self.is_comparison_of(other) && self.picture.has_pose_of(&other.picture)
    }

    /// Whether the same two files are compared, with the same tolerance.
    fn is_comparison_of(&self, other: &Self) -> bool {
        let scenes = |subject: &Self| (subject.picture.scene, subject.picture.comparison);
        scenes(self) == scenes(other) && self.tolerance == other.tolerance
    }
}

impl DeviationFigures {
    /// Forgets all that was on the device, which is lost.
    pub(in crate::app) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether the GPU has to be polled.
    pub(in crate::app) fn is_reading(&self) -> bool {
        let step = self.measuring.as_ref().map(|measuring| &measuring.step);
        matches!(step, Some(Step::Reading(..)))
    }

    /// Ends the measurement that is under way, unless it is the comparison of `subject`. Returns whether the
    /// figures that are known are of another one too.
    pub(in crate::app) fn keep_to(&mut self, subject: &Subject) -> bool {
        let is_of_others = |of: &Subject| !of.is_comparison_of(subject);
        if self.measuring.as_ref().is_some_and(|m| is_of_others(&m.subject)) {
            self.cancel();
        }
        let is_outdated = self.measured.as_ref().is_some_and(is_of_others);
        if is_outdated {
            (self.measured, self.rests_until) = (None, None);
        }
        is_outdated
    }

    /// Ends the measurement that is under way, and knows of none: there is nothing to measure.
    pub(in crate::app) fn clear(&mut self) {
        self.cancel();
        (self.measured, self.rests_until) = (None, None);
    }

    /// Ends the measurement that is under way.
    fn cancel(&mut self) {
        if let Some(Measuring {
            step: Step::OnThread(_, batches),
            ..
        }) = self.measuring.take()
        {
            batches.cancel();
        }
    }

    /// Whether the figures that are known are those of `subject`.
    pub(in crate::app) fn are_of(&self, subject: &Subject) -> bool {
        self.measured
            .as_ref()
            .is_some_and(|known| known.is_that_of(subject))
    }

    /// `subject` could not be measured: it is not tried again.
    pub(in crate::app) fn give_up(&mut self, subject: Subject) {
        self.measured = Some(subject);
    }

    /// When `subject` has to be measured; `None` where it has been, or while one is measured.
    pub(in crate::app) fn is_due(&self, subject: &Subject, now: Instant) -> Option<Instant> {
        match self.measuring.is_some() || self.are_of(subject) {
            true => None,
            false => Some(self.rests_until.unwrap_or(now).max(now)),
        }
    }

    /// Measures `subject`, once the copy of its triangles has come back; those in `ranges` are shown.
    pub(in crate::app) fn start(&mut self, subject: Subject, copy: GeometryCopy, ranges: Vec<Range<u32>>) {
        copy.map();
        self.measuring = Some(Measuring {
            subject,
            begun: Instant::now(),
            step: Step::Reading(copy, ranges),
        });
    }

    /// Goes on once the triangles have come back. Returns what was measured, once, and the time that it took.
    pub(in crate::app) fn poll(
        &mut self,
        gpu: &Arc<Gpu>,
        tree: Option<&Arc<ComparedTree>>,
        wake: impl FnOnce() + Send + 'static,
    ) -> Option<(Result<Statistics>, Duration)> {
        let measuring = self.measuring.as_ref()?;
        let outcome = match &measuring.step {
            Step::Reading(copy, _) if !copy.is_done() => return None,
            Step::Reading(..) => {
                let Measuring { subject, begun, step } = self.measuring.take()?;
                let (Step::Reading(copy, ranges), Some(tree)) = (step, tree) else {
                    // The tree could not be made, which was told.
                    self.measured = Some(subject);
                    return Some((Err(Error::Cancelled), begun.elapsed()));
                };
                let batches = Arc::new(Batches::between_frames(gpu));
                let tolerance = f64::from(subject.tolerance);
                let work = (gpu.clone(), tree.clone(), batches.clone(), self.thread.take());
                let (sender, outcome) = mpsc::channel();
                self.thread = Some(std::thread::spawn(move || {
                    let (gpu, tree, batches, before) = work;
                    // What was cancelled may still wait for the GPU: one at a time.
                    before.map(JoinHandle::join);
                    let measured = copy.read().and_then(|(positions, triangles)| {
                        let shown = Shown::new(positions, &triangles, ranges);
                        let of = (&shown.positions[..], &shown.indices[..]);
                        tree.measure(&gpu, of, SAMPLES, Some(tolerance), &batches)
                    });
                    // Nobody listens any more once another file was chosen.
                    let told = measured.map(|all| all.statistics);
                    sender.send(told.map_err(Error::from)).ok();
                    wake();
                }));
                let step = Step::OnThread(outcome, batches);
                self.measuring = Some(Measuring { subject, begun, step });
                return None;
            }
            Step::OnThread(outcome, _) => match outcome.try_recv() {
                Ok(outcome) => outcome,
                Err(mpsc::TryRecvError::Empty) => return None,
                // The thread panicked. That is a fault of canopy, but no reason to end the viewer.
                Err(mpsc::TryRecvError::Disconnected) => {
                    Err(Error::NotFound("measuring failed unexpectedly".into()))
                }
            },
        };
        let Measuring { subject, begun, .. } = self.measuring.take()?;
        let took = begun.elapsed();
        self.rests_until = Some(Instant::now() + took.max(PAUSE));
        self.measured = Some(subject);
        Some((outcome, took))
    }
}

impl Drop for DeviationFigures {
    fn drop(&mut self) {
        self.cancel();
        // Nothing may be left in the driver when the program ends.
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
