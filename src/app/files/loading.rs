//! Loads scenes on a thread, so that the window stays responsive.

use crate::{
    Error, Result,
    config::Config,
    gpu::Gpu,
    render::{UploadedScene, Uploader, materials::material_textures::texture_support},
    scene::{
        Progress,
        opened::{OpenedScene, Span},
    },
};

use std::{
    path::PathBuf,
    sync::{Arc, mpsc},
};

/// A loaded scene and its GPU buffers.
type Loaded = (OpenedScene, UploadedScene);

/// A load in progress.
#[derive(Debug)]
pub(in crate::app) struct Loading {
    /// Files that are being loaded.
    pub(in crate::app) files: Vec<PathBuf>,
    progress: Arc<Progress>,
    outcome: mpsc::Receiver<Result<Loaded>>,
}

impl Loading {
    /// Starts to load and upload `files` on a thread, or the built-in scene if there are none. The thread
    /// calls `wake` once the outcome exists.
    pub(in crate::app) fn start(
        files: Vec<PathBuf>,
        config: Config,
        (gpu, uploader): (Arc<Gpu>, Arc<Uploader>),
        wake: impl FnOnce() + Send + 'static,
    ) -> Self {
        let progress = Arc::new(Progress::default());
        let (sender, outcome) = mpsc::channel();
        let (paths, shared) = (files.clone(), progress.clone());
        std::thread::spawn(move || {
            // Sending fails if the window was closed or another load was started in the meantime.
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

    /// Returns the outcome once it exists. Do not call it again afterwards: it would then report a failure.
    pub(in crate::app) fn poll(&self) -> Option<Result<Loaded>> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(mpsc::TryRecvError::Empty) => None,
            // The loading thread panicked. That is a bug in canopy, but the viewer can continue.
            Err(mpsc::TryRecvError::Disconnected) => {
                let path = self.files.first().cloned().unwrap_or_default();
                let what = "loading failed unexpectedly; please report a bug with this file";
                Some(Err(Error::scene(path, what)))
            }
        }
    }

    /// Requests the thread to stop.
    pub(in crate::app) fn cancel(&self) {
        self.progress.cancel();
    }

    /// Returns the current step and the completed fraction of all steps.
    pub(in crate::app) fn progress(&self) -> (String, f32) {
        (self.progress.stage(), self.progress.fraction())
    }
}

fn load(
    files: &[PathBuf],
    config: &Config,
    gpu: &Gpu,
    uploader: &Uploader,
    progress: &Progress,
) -> Result<Loaded> {
    let opened = OpenedScene::load(files, config, texture_support(gpu), Span::Clip, progress)?;
    let uploaded = uploader.upload_reporting(gpu, &opened.scene, config, progress)?;
    Ok((opened, uploaded))
}
