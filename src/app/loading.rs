//! Loads scenes on a thread of their own, so that the window stays alive.

use crate::{
    Error, Result,
    config::Config,
    gpu::Gpu,
    render::{UploadedScene, Uploader, material_textures::texture_support},
    scene::{self, Pose, Progress, Scene, bounds::Bounds, deform},
};
use std::{
    path::PathBuf,
    sync::{Arc, mpsc},
};

/// A load under way.
#[derive(Debug)]
pub(super) struct Loading {
    /// What is being loaded.
    pub(super) files: Vec<PathBuf>,
    progress: Arc<Progress>,
    outcome: mpsc::Receiver<Result<(Loaded, UploadedScene)>>,
}

/// A scene that has been loaded, and what takes long to find out about it.
#[derive(Debug)]
pub(super) struct Loaded {
    /// The scene.
    pub(super) scene: Scene,
    /// To bound it at any time.
    pub(super) bounds: Bounds,
    /// The clip that the configuration names; the first one if there is no such clip.
    pub(super) clip: Option<usize>,
    /// The variant that the configuration names.
    pub(super) variant: Option<usize>,
    /// At the configuration's time.
    pub(super) pose: Pose,
    /// Every vertex in that pose, and if the clip plays, in others of its.
    pub(super) points: Vec<glam::Vec3>,
    /// What of the configuration does not fit the scene.
    pub(super) misfit: Option<Error>,
}

impl Loading {
    /// Starts to load `files`, the built-in scene if there are none. `wake` is called when the outcome is there.
    pub(super) fn start(
        files: Vec<PathBuf>,
        config: Config,
        (gpu, uploader): (Arc<Gpu>, Arc<Uploader>),
        wake: impl FnOnce() + Send + 'static,
    ) -> Self {
        let progress = Arc::new(Progress::default());
        let (sender, outcome) = mpsc::channel();
        let (paths, shared) = (files.clone(), progress.clone());
        std::thread::spawn(move || {
            // Nobody listens any more once the window is closed or another load was started.
            let loaded = load(&paths, &config, &gpu, &uploader, &shared);
            sender.send(loaded).ok();
            wake();
        });
        Self {
            files,
            progress,
            outcome,
        }
    }

    /// The outcome, once it is there.
    pub(super) fn poll(&self) -> Option<Result<(Loaded, UploadedScene)>> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(mpsc::TryRecvError::Empty) => None,
            // The thread is gone without a word: it panicked, which is a fault of canopy's, but no reason to fall with it.
            Err(mpsc::TryRecvError::Disconnected) => {
                let path = self.files.first().cloned().unwrap_or_default();
                let what = "loading failed unexpectedly; please report this file";
                Some(Err(Error::scene(path, what)))
            }
        }
    }

    /// Asks it to stop.
    pub(super) fn cancel(&self) {
        self.progress.cancel();
    }

    /// What it is doing, and the share that is done.
    pub(super) fn progress(&self) -> (String, f32) {
        (self.progress.stage(), self.progress.fraction())
    }
}

/// What a view of the scene has to hold: the pose at `time`, or every pose that a clip that plays will come through.
pub(super) fn clip_points(
    scene: &Scene,
    clip: Option<usize>,
    plays: bool,
    time: f32,
) -> Vec<glam::Vec3> {
    match clip.and_then(|clip| scene.clips.get(clip)) {
        Some(playing) if plays => {
            deform::positions_over(scene, clip, 0.0, playing.duration_secs, 9)
        }
        _ => deform::positions(scene, &Pose::new(scene, clip, time)),
    }
}

fn load(
    files: &[PathBuf],
    config: &Config,
    gpu: &Gpu,
    uploader: &Uploader,
    progress: &Progress,
) -> Result<(Loaded, UploadedScene)> {
    let mut scene = scene::load_for(files, &config.load, texture_support(gpu), progress)?;
    let mut misfit = None;
    let mut fits = |found: Result<_>, otherwise| {
        found.unwrap_or_else(|error| {
            misfit.get_or_insert(error);
            otherwise
        })
    };
    let first_clip = (!scene.clips.is_empty()).then_some(0);
    let clip = fits(scene.clip(&config.animation.clip), first_clip);
    let variant = fits(scene.variant(&config.scene.variant), None);
    scene.choose_variant(variant);
    progress.enter("bringing it to the GPU")?;
    let buffers = uploader.upload(gpu, &scene, config)?;
    let pose = Pose::new(&scene, clip, config.animation.time);
    let points = clip_points(&scene, clip, config.animation.play, config.animation.time);
    let loaded = Loaded {
        bounds: Bounds::new(&scene),
        points,
        scene,
        clip,
        variant,
        pose,
        misfit,
    };
    Ok((loaded, buffers))
}
