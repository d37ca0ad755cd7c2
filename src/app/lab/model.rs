//! Build of the structure that the channel `lab` traverses. The triangles of the shown picture are read back
//! without blocking, and a thread builds the structure over them.

use crate::{
    Error, Result,
    app::schedule::PictureKey,
    config::{self, LabStructure, LabWalk},
    gpu::Gpu,
    lab::{LabBuild, LabGeometry, LabScene, LabStatistics},
    render::GeometryCopy,
};
use glam::Vec3;
use std::{
    collections::VecDeque,
    ops::Range,
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

/// Number of subjects that are remembered with their structure's number. Fewer pictures are in flight.
const TRACED: usize = 4;

/// State of the lab that the panel shows.
#[derive(Debug, Default)]
pub(in crate::app) struct LabState {
    /// Build settings and statistics of the structure that rays traverse, or the reason why the build failed.
    /// `None` until the first build ends.
    pub(in crate::app) built: Option<Result<(LabBuild, LabStatistics), String>>,
    /// True if the picture was traced through the structure of an earlier pose or of earlier settings.
    pub(in crate::app) lags: bool,
    /// Notice that the traversal was changed to match the structure, or the structure to match the traversal.
    pub(in crate::app) moved: Option<String>,
    /// Last compatible traversal and structure.
    before: Option<(LabWalk, LabStructure)>,
}

impl LabState {
    /// If traversal and structure are incompatible, changes the one that the user did not just choose, and
    /// sets a notice.
    pub(in crate::app) fn resolve_conflict(&mut self, settings: &mut config::Lab) {
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
                    moved = Some(format!("structure {structure}, required by {walk}"));
                }
            } else if let Some(walk) = LabWalk::ALL
                .into_iter()
                .find(|walk| settings.structure.has(*walk))
            {
                settings.walk = walk;
                let (walk, structure) = (walk.name(), settings.structure.name());
                moved = Some(format!("traversal {walk}, required by {structure}"));
            }
        }
        self.moved = moved;
        self.before = Some((settings.walk, settings.structure));
    }
}

/// Input of a build: the triangles of a picture, and the build settings.
#[derive(Debug, Clone)]
pub(in crate::app) struct Subject {
    pub(in crate::app) picture: PictureKey,
    pub(in crate::app) build: LabBuild,
}

impl Subject {
    /// True if `other` would build the same structure.
    fn is_that_of(&self, other: &Self) -> bool {
        self.build == other.build && self.picture.has_same_pose(&other.picture)
    }
}

/// Result of a build thread: the triangles with everything that was built over them, and the structure.
type Outcome = (Option<LabGeometry>, Result<LabScene>);

/// The running build, and the subject of the last one.
#[derive(Debug, Default)]
pub(in crate::app) struct LabBuilder {
    /// Subject of the last build, even if it failed.
    known: Option<Subject>,
    /// Subjects of the last structures that pictures were traced through, with their [`PictureKey::lab`],
    /// latest first.
    traced: VecDeque<(u64, Subject)>,
    building: Option<(Subject, Step)>,
    /// Triangles of a picture, with everything that has been built over them.
    geometry: Option<(PictureKey, LabGeometry)>,
    /// Build thread, which is running or has just ended.
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
enum Step {
    /// Readback of all triangles, the ranges of the visible ones, and the world-space origin of the
    /// positions.
    Reading(GeometryCopy, Vec<Range<u32>>, Vec3),
    OnThread(mpsc::Receiver<Outcome>),
}

impl LabBuilder {
    /// Clears everything, because the lab is not shown or the device is lost. The result of a running thread
    /// is dropped.
    pub(in crate::app) fn reset(&mut self) {
        (self.known, self.building, self.geometry) = (None, None, None);
        self.traced.clear();
    }

    /// True while triangles are being read back, which needs the GPU to be polled.
    pub(in crate::app) fn is_reading(&self) -> bool {
        matches!(self.building, Some((_, Step::Reading(..))))
    }

    /// True if the last build was for `subject`.
    pub(in crate::app) fn is_of(&self, subject: &Subject) -> bool {
        self.known.as_ref().is_some_and(|known| known.is_that_of(subject))
    }

    /// Registers that pictures whose [`PictureKey::lab`] is `number` are traced through the structure of
    /// `subject`.
    pub(in crate::app) fn traces(&mut self, number: u64, subject: Subject) {
        self.traced.truncate(TRACED - 1);
        self.traced.push_front((number, subject));
    }

    /// True if the picture of `subject` was traced through the structure of `subject`.
    pub(in crate::app) fn has_traced(&self, subject: &Subject) -> bool {
        self.traced
            .iter()
            .any(|(number, of)| *number == subject.picture.lab && of.is_that_of(subject))
    }

    /// True if the last build was for this scene.
    pub(in crate::app) fn is_of_scene(&self, scene: u64) -> bool {
        self.known
            .as_ref()
            .is_some_and(|known| known.picture.scene == scene)
    }

    /// True if `subject` has to be built and no build is running.
    pub(in crate::app) fn is_due(&self, subject: &Subject) -> bool {
        self.building.is_none() && !self.is_of(subject)
    }

    /// True if the triangles of `subject` are available.
    pub(in crate::app) fn has_triangles_of(&self, subject: &Subject) -> bool {
        let known = self.geometry.as_ref();
        known.is_some_and(|(picture, _)| picture.has_same_pose(&subject.picture))
    }

    /// Registers that `subject` could not be built, so that it is not tried again.
    pub(in crate::app) fn mark_failed(&mut self, subject: Subject) {
        self.known = Some(subject);
    }

    /// Starts to read back the triangles of `subject`. [`Self::poll`] then starts the build.
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

    /// Starts to build `subject` over the available triangles. Calls `wake` at the end.
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
            // Builds run one at a time. The previous one may be outdated and still running.
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

    /// Starts the build once the triangles have been read back. Returns the subject and the result of a
    /// finished build, once.
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
                // The build thread panicked. That is a bug in canopy but no reason to end the viewer.
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
        // The driver must not be busy when the program ends.
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
    fn incompatible_lab_choices_are_adjusted_and_reported() {
        let mut settings = Config::default().lab;
        let mut view = LabState::default();
        view.resolve_conflict(&mut settings);
        assert_eq!(view.moved, None);
        settings.walk = LabWalk::TwoLevel;
        view.resolve_conflict(&mut settings);
        assert_eq!(settings.structure, LabStructure::TwoLevel);
        let moved = view.moved.clone().unwrap();
        assert!(moved.contains("cells-of-cells") && moved.contains("two-level-grid"));
        // The notice stays until another choice.
        view.resolve_conflict(&mut settings);
        assert_eq!(view.moved.as_ref(), Some(&moved));
        settings.structure = LabStructure::Ploc;
        view.resolve_conflict(&mut settings);
        assert_eq!(settings.walk, LabWalk::Private);
        settings.walk = LabWalk::Skip;
        view.resolve_conflict(&mut settings);
        assert_eq!((settings.structure, &view.moved), (LabStructure::Ploc, &None));
        // Combinations that fit are not changed, whatever was chosen before.
        for structure in LabStructure::ALL {
            for walk in LabWalk::ALL {
                (settings.structure, settings.walk) = (structure, walk);
                LabState::default().resolve_conflict(&mut settings);
                assert!(settings.structure.has(settings.walk));
                assert_eq!(settings.walk, walk);
                assert!(settings.structure == structure || !structure.has(walk));
            }
        }
    }

    #[test]
    fn a_lab_structure_is_built_once() {
        let picture = PictureKey::for_tests();
        let build = LabBuild::from(&picture.config.lab);
        let subject = Subject { picture, build };
        let mut builder = LabBuilder::default();
        assert!(builder.is_due(&subject) && !builder.has_triangles_of(&subject));
        builder.mark_failed(subject.clone());
        assert!(!builder.is_due(&subject) && builder.is_of_scene(subject.picture.scene));
        let mut other = subject.clone();
        // The view does not affect the triangles, but the time does.
        other.picture.view.near = 0.2;
        assert!(!builder.is_due(&other));
        other.picture.time += 1.0;
        assert!(builder.is_due(&other));
        other = subject.clone();
        other.build.leaf = 1;
        assert!(builder.is_due(&other));
        // A picture of another time that is traced through the structure lags. So does a picture from before
        // the structure.
        builder.traces(7, subject.clone());
        other = subject.clone();
        assert!(!builder.has_traced(&other));
        other.picture.lab = 7;
        assert!(builder.has_traced(&other));
        other.picture.time += 1.0;
        assert!(!builder.has_traced(&other));
        builder.reset();
        assert!(builder.is_due(&subject));
    }
}
