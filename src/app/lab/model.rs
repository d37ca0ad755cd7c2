//! The structure that the channel `lab` traces through: triangles of the picture that is shown are read back
//! without a wait, and a thread builds over them.

use crate::{
    Error, Result,
    app::schedule::PictureKey,
    config::{self, LabStructure, LabWalk},
    gpu::Gpu,
    lab::{LabBuild, LabFigures, LabGeometry, LabScene},
    render::GeometryCopy,
};
use glam::Vec3;
use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

/// Structures that are remembered: more than there are pictures under way.
const TRACED: usize = 4;

/// What the panel tells of the laboratory.
#[derive(Debug, Default)]
pub(in crate::app) struct LabState {
    /// The structure that rays are traced through; `None` until it is built, and why where it cannot be.
    pub(in crate::app) built: Option<Result<(LabBuild, LabFigures), String>>,
    /// Whether the picture was traced through that of a pose before, or of settings before.
    pub(in crate::app) lags: bool,
    /// What a choice has moved.
    pub(in crate::app) moved: Option<String>,
    /// The last walk and structure that fit.
    before: Option<(LabWalk, LabStructure)>,
}

impl LabState {
    /// Where walk and structure do not fit, moves the one that was not just chosen, and says so.
    pub(in crate::app) fn settle(&mut self, settings: &mut config::Lab) {
        let now = (settings.walk, settings.structure);
        if self.before == Some(now) {
            return;
        }
        let mut moved = None;
        if !settings.structure.has(settings.walk) {
            let walk_is_new = self.before.is_none_or(|(walk, _)| walk != settings.walk);
            if walk_is_new {
                let has = |structure: &LabStructure| structure.has(settings.walk);
                let fitting = [LabStructure::Sah].into_iter().chain(LabStructure::ALL);
                if let Some(structure) = fitting.into_iter().find(has) {
                    settings.structure = structure;
                    let (walk, structure) = (settings.walk.name(), structure.name());
                    moved = Some(format!("{walk} goes through {structure}: structure changed"));
                }
            } else if let Some(walk) = LabWalk::ALL
                .into_iter()
                .find(|walk| settings.structure.has(*walk))
            {
                settings.walk = walk;
                let (walk, structure) = (walk.name(), settings.structure.name());
                moved = Some(format!("through {structure} goes {walk}: walk changed"));
            }
        }
        self.moved = moved;
        self.before = Some((settings.walk, settings.structure));
    }
}

/// What is built: over the triangles of a picture, in one way.
#[derive(Debug, Clone)]
pub(in crate::app) struct Subject {
    pub(in crate::app) picture: PictureKey,
    pub(in crate::app) build: LabBuild,
}

impl Subject {
    /// Whether what is built for `other` is the same.
    fn is_that_of(&self, other: &Self) -> bool {
        self.build == other.build && self.picture.has_pose_of(&other.picture)
    }
}

/// What a thread hands back: the triangles with all that was built over them, and the structure.
type Outcome = (Option<LabGeometry>, Result<LabScene>);

/// The structure that is being built, and what is known of the last one.
#[derive(Debug, Default)]
pub(in crate::app) struct LabBuilder {
    /// What was built last, or could not be.
    known: Option<Subject>,
    /// The last structures that pictures were traced through, by [`PictureKey::lab`].
    traced: VecDeque<(u64, Subject)>,
    building: Option<(Subject, Step)>,
    /// Triangles of a picture, with what was built over them before.
    geometry: Option<(PictureKey, LabGeometry)>,
    /// Builds, or has just ended.
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Step {
    /// All triangles are being read back; of these ranges some are shown, in a space with this origin.
    Reading(GeometryCopy, Vec<Range<u32>>, Vec3),
    OnThread(mpsc::Receiver<Outcome>),
}

impl LabBuilder {
    /// Forgets all: nobody looks at it, or the device is lost. What a thread is at is thrown away once it is
    /// done.
    pub(in crate::app) fn forget(&mut self) {
        (self.known, self.building, self.geometry) = (None, None, None);
        self.traced.clear();
    }

    /// Whether the GPU has to be polled.
    pub(in crate::app) fn is_reading(&self) -> bool {
        matches!(self.building, Some((_, Step::Reading(..))))
    }

    /// Whether what was built last is `subject`.
    pub(in crate::app) fn is_of(&self, subject: &Subject) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_that_of(subject))
    }

    /// Pictures with this number are traced through the structure of `subject`.
    pub(in crate::app) fn traces(&mut self, number: u64, subject: Subject) {
        self.traced.truncate(TRACED - 1);
        self.traced.push_front((number, subject));
    }

    /// Whether the picture of `subject` was traced through the structure of `subject`.
    pub(in crate::app) fn has_traced(&self, subject: &Subject) -> bool {
        self.traced
            .iter()
            .any(|(number, of)| *number == subject.picture.lab && of.is_that_of(subject))
    }

    /// Whether what was built last is of this scene.
    pub(in crate::app) fn is_of_scene(&self, scene: u64) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.picture.scene == scene)
    }

    /// Whether `subject` has to be built, and nothing is under way.
    pub(in crate::app) fn is_due(&self, subject: &Subject) -> bool {
        self.building.is_none() && !self.is_of(subject)
    }

    /// Whether the triangles of `subject` are there.
    pub(in crate::app) fn has_triangles_of(&self, subject: &Subject) -> bool {
        let known = self.geometry.as_ref();
        known.is_some_and(|(picture, _)| picture.has_pose_of(&subject.picture))
    }

    /// `subject` could not be built: it is not tried again.
    pub(in crate::app) fn give_up(&mut self, subject: Subject) {
        self.known = Some(subject);
    }

    /// Builds `subject`, once the copy of its triangles has come back.
    pub(in crate::app) fn read(
        &mut self,
        subject: Subject,
        copy: GeometryCopy,
        ranges: Vec<Range<u32>>,
        origin: Vec3,
    ) {
        copy.map();
        self.geometry = None;
        self.building = Some((subject, Step::Reading(copy, ranges, origin)));
    }

    /// Builds `subject` over the triangles that are there.
    pub(in crate::app) fn start(
        &mut self,
        gpu: &Arc<Gpu>,
        subject: Subject,
        wake: impl FnOnce() + Send + 'static,
    ) {
        if let Some((_, geometry)) = self.geometry.take() {
            self.spawn(gpu, subject, move || Ok(geometry), wake);
        }
    }

    fn spawn(
        &mut self,
        gpu: &Arc<Gpu>,
        subject: Subject,
        geometry: impl FnOnce() -> Result<LabGeometry> + Send + 'static,
        wake: impl FnOnce() + Send + 'static,
    ) {
        let (gpu, build, before) = (gpu.clone(), subject.build, self.thread.take());
        let (sender, outcome) = mpsc::channel();
        self.thread = Some(std::thread::spawn(move || {
            // One at a time: what is not wanted any more may still be under way.
            before.map(JoinHandle::join);
            let outcome = match geometry() {
                Ok(mut geometry) => {
                    let built = geometry.build(&gpu, build).map_err(Error::from);
                    (Some(geometry), built)
                }
                Err(error) => (None, Err(error)),
            };
            sender.send(outcome).ok();
            wake();
        }));
        self.building = Some((subject, Step::OnThread(outcome)));
    }

    /// Goes on once the triangles have come back. Returns what was built, once, and what it is.
    pub(in crate::app) fn poll(
        &mut self,
        gpu: &Arc<Gpu>,
        wake: impl FnOnce() + Send + 'static,
    ) -> Option<(Subject, Result<LabScene>)> {
        let (subject, step) = self.building.take()?;
        let (geometry, built) = match step {
            Step::Reading(copy, ranges, origin) if copy.is_done() => {
                let geometry = move || {
                    let (positions, triangles) = copy.read()?;
                    Ok(LabGeometry::new(&positions, &triangles, ranges, origin))
                };
                self.spawn(gpu, subject, geometry, wake);
                return None;
            }
            Step::OnThread(outcome) => match outcome.try_recv() {
                Ok(outcome) => outcome,
                Err(mpsc::TryRecvError::Empty) => {
                    self.building = Some((subject, Step::OnThread(outcome)));
                    return None;
                }
                // The thread panicked. That is a fault of canopy, but no reason to end the viewer.
                Err(mpsc::TryRecvError::Disconnected) => {
                    let error = Error::NotFound("building failed unexpectedly".into());
                    (None, Err(error))
                }
            },
            reading => {
                self.building = Some((subject, reading));
                return None;
            }
        };
        self.geometry = geometry.map(|geometry| (subject.picture.clone(), geometry));
        self.known = Some(subject.clone());
        Some((subject, built))
    }
}

impl Drop for LabBuilder {
    fn drop(&mut self) {
        // Nothing may be left in the driver when the program ends.
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn a_choice_moves_what_does_not_fit_and_says_so() {
        let mut settings = Config::default().lab;
        let mut view = LabState::default();
        view.settle(&mut settings);
        assert_eq!(view.moved, None);
        settings.walk = LabWalk::TwoLevel;
        view.settle(&mut settings);
        assert_eq!(settings.structure, LabStructure::TwoLevel);
        let moved = view.moved.clone().unwrap();
        assert!(moved.contains("cells-of-cells") && moved.contains("two-level-grid"));
        // It is told until another choice.
        view.settle(&mut settings);
        assert_eq!(view.moved.as_ref(), Some(&moved));
        settings.structure = LabStructure::Ploc;
        view.settle(&mut settings);
        assert_eq!(settings.walk, LabWalk::Private);
        settings.walk = LabWalk::Skip;
        view.settle(&mut settings);
        assert_eq!((settings.structure, &view.moved), (LabStructure::Ploc, &None));
        // All that fits is left alone, whatever was chosen before.
        for structure in LabStructure::ALL {
            for walk in LabWalk::ALL {
                (settings.structure, settings.walk) = (structure, walk);
                LabState::default().settle(&mut settings);
                assert!(settings.structure.has(settings.walk));
                assert_eq!(settings.walk, walk);
                assert!(settings.structure == structure || !structure.has(walk));
            }
        }
    }

    #[test]
    fn what_was_built_is_built_once() {
        let picture = PictureKey::for_tests();
        let build = LabBuild::from(&picture.config.lab);
        let subject = Subject { picture, build };
        let mut builder = LabBuilder::default();
        assert!(builder.is_due(&subject) && !builder.has_triangles_of(&subject));
        builder.give_up(subject.clone());
        assert!(!builder.is_due(&subject) && builder.is_of_scene(subject.picture.scene));
        let mut other = subject.clone();
        // The view changes no triangle, the time does.
        other.picture.view.near = 0.2;
        assert!(!builder.is_due(&other));
        other.picture.time += 1.0;
        assert!(builder.is_due(&other));
        other = subject.clone();
        other.build.leaf = 1;
        assert!(builder.is_due(&other));
        // A picture of another moment that goes through it lags, and so does one of before it.
        builder.traces(7, subject.clone());
        other = subject.clone();
        assert!(!builder.has_traced(&other));
        other.picture.lab = 7;
        assert!(builder.has_traced(&other));
        other.picture.time += 1.0;
        assert!(!builder.has_traced(&other));
        builder.forget();
        assert!(builder.is_due(&subject));
    }
}
