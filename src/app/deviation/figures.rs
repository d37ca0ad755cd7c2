//! Statistics of the shown deviation. The deformed geometry is read back from the GPU without blocking, and
//! measured on a thread in the same way as by `canopy deviation`.

use crate::{
    Error, Result,
    app::schedule::PictureKey,
    gpu::Gpu,
    render::{
        GeometryCopy,
        geometry::visible::VisibleGeometry,
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

/// Minimum pause between two measurements. A pause lasts at least as long as the previous measurement.
const PAUSE: Duration = Duration::from_millis(200);

/// Input of a measurement: everything that the statistics depend on.
#[derive(Debug, Clone)]
pub(in crate::app) struct Subject {
    pub(in crate::app) picture: PictureKey,
    /// Tolerance in metres.
    pub(in crate::app) tolerance: f32,
}

/// The running measurement, and the subject of the last one. The statistics themselves are in
/// [`DeviationState`](crate::app::deviation::DeviationState).
#[derive(Debug, Default)]
pub(in crate::app) struct DeviationStatistics {
    measured: Option<Subject>,
    measuring: Option<Measuring>,
    /// Earliest time of the next measurement. `None` if it may start at once.
    rests_until: Option<Instant>,
    /// Thread of the last measurement, which may have ended.
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
    /// The deformed geometry is being read back. The ranges are the numbers of its visible triangles.
    Reading(GeometryCopy, Vec<Range<u32>>),
    OnThread(mpsc::Receiver<Result<Statistics>>, Arc<Batches>),
}

impl Subject {
    /// True if both subjects have the same statistics.
    fn is_that_of(&self, other: &Self) -> bool {
        self.is_comparison_of(other) && self.picture.has_same_pose(&other.picture)
    }

    /// True if both subjects have the same scene, reference surface and tolerance. Their poses may differ.
    fn is_comparison_of(&self, other: &Self) -> bool {
        let scenes = |subject: &Self| (subject.picture.scene, subject.picture.comparison);
        scenes(self) == scenes(other) && self.tolerance == other.tolerance
    }
}

impl DeviationStatistics {
    /// Drops everything, because the device is lost. A running measurement is cancelled.
    pub(in crate::app) fn reset(&mut self) {
        *self = Self::default();
    }

    /// True while a readback is pending, for which the GPU has to be polled.
    pub(in crate::app) fn is_reading(&self) -> bool {
        let step = self.measuring.as_ref().map(|measuring| &measuring.step);
        matches!(step, Some(Step::Reading(..)))
    }

    /// Cancels the running measurement if it has another scene, reference surface or tolerance than
    /// `subject`. Returns true if the known statistics do, which are then outdated and must not be shown.
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

    /// Cancels the running measurement and forgets the last one, because there is nothing to measure.
    pub(in crate::app) fn clear(&mut self) {
        self.cancel();
        (self.measured, self.rests_until) = (None, None);
    }

    /// Cancels the running measurement.
    fn cancel(&mut self) {
        if let Some(Measuring {
            step: Step::OnThread(_, batches),
            ..
        }) = self.measuring.take()
        {
            batches.cancel();
        }
    }

    /// True if the known statistics belong to `subject`.
    pub(in crate::app) fn are_of(&self, subject: &Subject) -> bool {
        self.measured
            .as_ref()
            .is_some_and(|known| known.is_that_of(subject))
    }

    /// Registers that `subject` cannot be measured, so that no further attempt is made.
    pub(in crate::app) fn mark_failed(&mut self, subject: Subject) {
        self.measured = Some(subject);
    }

    /// Returns the earliest time at which `subject` may be measured. `None` if it has already been measured
    /// or a measurement is running.
    pub(in crate::app) fn is_due(&self, subject: &Subject, now: Instant) -> Option<Instant> {
        match self.measuring.is_some() || self.are_of(subject) {
            true => None,
            false => Some(self.rests_until.unwrap_or(now).max(now)),
        }
    }

    /// Starts to measure `subject`. `copy` is the readback of its geometry, which must have been submitted,
    /// and `ranges` are the numbers of the visible triangles.
    pub(in crate::app) fn start(&mut self, subject: Subject, copy: GeometryCopy, ranges: Vec<Range<u32>>) {
        copy.map();
        self.measuring = Some(Measuring {
            subject,
            begun: Instant::now(),
            step: Step::Reading(copy, ranges),
        });
    }

    /// Starts the measuring thread once the geometry has been read back, and returns the result and the
    /// duration once, when the thread has ended. `tree` is the BVH of the reference surface. The thread calls
    /// `wake` when it ends.
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
                    // The BVH could not be built. That error has already been shown.
                    self.measured = Some(subject);
                    return Some((Err(Error::Cancelled), begun.elapsed()));
                };
                let batches = Arc::new(Batches::between_frames(gpu));
                let tolerance = f64::from(subject.tolerance);
                let work = (gpu.clone(), tree.clone(), batches.clone(), self.thread.take());
                let (sender, outcome) = mpsc::channel();
                self.thread = Some(std::thread::spawn(move || {
                    let (gpu, tree, batches, before) = work;
                    // Only one measurement runs at a time. A cancelled one may still be waiting for the GPU.
                    before.map(JoinHandle::join);
                    let measured = copy.read().and_then(|(positions, triangles)| {
                        let shown = VisibleGeometry::new(positions, &triangles, ranges);
                        let of = (&shown.positions[..], &shown.indices[..]);
                        tree.measure(&gpu, of, SAMPLES, Some(tolerance), &batches)
                    });
                    // Sending fails if the measurement was cancelled.
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
                // The measuring thread panicked. That is a bug in canopy, but the viewer can continue.
                Err(mpsc::TryRecvError::Disconnected) => Err(Error::NotFound(
                    "measuring the deviation failed unexpectedly; please report a \
                                         bug with this file"
                        .into(),
                )),
            },
        };
        let Measuring { subject, begun, .. } = self.measuring.take()?;
        let took = begun.elapsed();
        self.rests_until = Some(Instant::now() + took.max(PAUSE));
        self.measured = Some(subject);
        Some((outcome, took))
    }
}

impl Drop for DeviationStatistics {
    fn drop(&mut self) {
        self.cancel();
        // The process must not end while the thread uses the driver.
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}
