//! Figures of the deviation that the window shows: what the GPU has deformed is read back without a wait, and measured
//! on a thread, as `canopy deviation` does it.

use super::{graphics::Graphics, schedule::PictureKey, viewer::Viewer};
use crate::{
    Error, Result,
    gpu::Gpu,
    output::deviation_text,
    render::{
        GeometryCopy,
        compared_tree::{Batches, ComparedTree},
        shown::{Shown, visible},
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
struct Subject {
    picture: PictureKey,
    /// In metres.
    tolerance: f32,
}

/// The measurement that is under way, and what is known of the last one.
#[derive(Debug, Default)]
pub(super) struct DeviationFigures {
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
        self.is_of_scenes_of(other)
            && self.picture.has_pose_of(&other.picture)
            && self.tolerance == other.tolerance
    }

    /// Whether the same two files are compared.
    fn is_of_scenes_of(&self, other: &Self) -> bool {
        let scenes = |subject: &Self| (subject.picture.scene, subject.picture.comparison);
        scenes(self) == scenes(other)
    }
}

impl DeviationFigures {
    /// Forgets all that was on the device, which is lost.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Whether the GPU has to be polled.
    pub(super) fn is_reading(&self) -> bool {
        let step = self.measuring.as_ref().map(|measuring| &measuring.step);
        matches!(step, Some(Step::Reading(..)))
    }

    /// Ends the measurement that is under way, unless it is of the scenes of `subject`.
    fn keep_to(&mut self, subject: &Subject) {
        let is_of_others = |of: &Subject| !of.is_of_scenes_of(subject);
        if self
            .measuring
            .as_ref()
            .is_some_and(|m| is_of_others(&m.subject))
        {
            self.cancel();
        }
        if self.measured.as_ref().is_some_and(is_of_others) {
            (self.measured, self.rests_until) = (None, None);
        }
    }

    fn cancel(&mut self) {
        if let Some(Measuring {
            step: Step::OnThread(_, batches),
            ..
        }) = self.measuring.take()
        {
            batches.cancel();
        }
    }

    /// When `subject` has to be measured; `None` where it has been, or while one is measured.
    fn is_due(&self, subject: &Subject, now: Instant) -> Option<Instant> {
        let is_known = |known: &Subject| known.is_that_of(subject);
        match self.measuring.is_some() || self.measured.as_ref().is_some_and(is_known) {
            true => None,
            false => Some(self.rests_until.unwrap_or(now).max(now)),
        }
    }

    /// Goes on once the triangles have come back. Returns what was measured, once, and the time that it took.
    fn poll(
        &mut self,
        gpu: &Arc<Gpu>,
        tree: Option<&Arc<ComparedTree>>,
        wake: impl FnOnce() + Send + 'static,
    ) -> Option<(Result<Statistics>, Duration)> {
        let measuring = self.measuring.as_mut()?;
        let outcome = match &measuring.step {
            Step::Reading(copy, _) if !copy.is_done() => return None,
            Step::Reading(copy, ranges) => match (copy.read(), tree) {
                (Ok((positions, triangles)), Some(tree)) => {
                    let shown = Shown::new(positions, &triangles, ranges.iter().cloned());
                    let batches = Arc::new(Batches::between_frames(gpu));
                    let tolerance = f64::from(measuring.subject.tolerance);
                    let work = (gpu.clone(), tree.clone(), batches.clone());
                    let (sender, outcome) = mpsc::channel();
                    self.thread = Some(std::thread::spawn(move || {
                        let (gpu, tree, batches) = work;
                        let of = (&shown.positions[..], &shown.indices[..]);
                        let measured = tree.measure(&gpu, of, SAMPLES, Some(tolerance), &batches);
                        // Nobody listens any more once another file was chosen.
                        sender.send(measured.map(|all| all.statistics)).ok();
                        wake();
                    }));
                    measuring.step = Step::OnThread(outcome, batches);
                    return None;
                }
                (Err(error), _) => Err(error),
                (_, None) => Err(Error::Cancelled),
            },
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

impl Viewer {
    /// Measures what the window shows, where the panel tells it and it has changed. It does nothing while a frame of
    /// another pose is being drawn.
    pub(super) fn measure_deviation(&mut self) -> Result<()> {
        let figures = &mut self.figures;
        let (Some(compared), Some(shown)) = (&self.state.compared, &self.selecting.shown) else {
            self.state.figures = None;
            figures.cancel();
            return Ok(());
        };
        let subject = Subject {
            picture: shown.clone(),
            tolerance: compared.range(&self.state.config.deviation),
        };
        let before = figures.measured.is_some();
        figures.keep_to(&subject);
        if before && figures.measured.is_none() {
            self.state.figures = None;
        }
        let is_current = shown.scene == self.scenes && shown.comparison == self.comparisons;
        let is_replaced = self
            .in_flight
            .as_ref()
            .is_some_and(|frame| !frame.picture.has_pose_of(shown));
        if !self.state.tells_figures || !is_current || is_replaced {
            return Ok(());
        }
        let now = Instant::now();
        let Some(due) = figures.is_due(&subject, now) else {
            return Ok(());
        };
        if due > now {
            self.schedule.draw_by(due);
            return Ok(());
        }
        let (Some(stage), Some(uploaded)) = (&self.state.stage, &self.graphics.uploaded) else {
            return Ok(());
        };
        let (gpu, renderer) = (&self.graphics.gpu, &self.graphics.renderer);
        let mut encoder = gpu.encoder("deviation_figures");
        let Some(copy) = renderer.copy_geometry(gpu, &mut encoder, uploaded)? else {
            return Ok(());
        };
        gpu.queue.submit([encoder.finish()]);
        copy.map();
        let pose = stage.pose_at(shown.clip, shown.time, &shown.hidden);
        let ranges = uploaded.buffers.meshes.iter().map(|mesh| {
            let first = mesh.first_triangle;
            first..first + mesh.triangle_count
        });
        let ranges = visible(&stage.scene, &pose, ranges).collect();
        figures.measuring = Some(Measuring {
            subject,
            begun: now,
            step: Step::Reading(copy, ranges),
        });
        Ok(())
    }

    /// Takes the figures that have come.
    pub(super) fn poll_figures(&mut self) {
        let Graphics { gpu, renderer, .. } = &self.graphics;
        let wake = self.waker.redraw();
        let Some((outcome, took)) = self.figures.poll(gpu, renderer.compared(), wake) else {
            return;
        };
        self.state.figures = Some(match outcome {
            Ok(statistics) => {
                let lines = deviation_text::lines(&statistics);
                let ms = took.as_millis();
                log::debug!(
                    "measured the deviation in {ms} ms: {}",
                    lines.replace('\n', "; ")
                );
                Ok(statistics)
            }
            Err(error) => Err(error.to_string()),
        });
        self.draw_within(Duration::ZERO);
    }
}
