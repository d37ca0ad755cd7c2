//! The environment's file: read on a thread of its own when the settings name another one.

use crate::{
    Error, Result,
    config::{Config, EnvironmentSource},
    scene::environment::{self, EnvironmentImage},
};
use std::{
    path::Path,
    sync::{Arc, mpsc},
};

/// What is shown of it, and what is being read.
#[derive(Debug, Default)]
pub(super) struct EnvironmentFile {
    shown: Option<Shown>,
    loading: Option<Loading>,
    /// The settings come to name it once it has been read.
    chosen: Option<String>,
}

#[derive(Debug)]
struct Shown {
    name: String,
    image: Arc<EnvironmentImage>,
    /// The mean over the sphere.
    luminance: f32,
    /// Whether its sun was taken out, if it has one.
    parted: bool,
    /// Whether the file is to be read again.
    is_stale: bool,
}

/// A file that is being read.
#[derive(Debug)]
struct Loading {
    name: String,
    parted: bool,
    /// The image and its mean luminance.
    outcome: mpsc::Receiver<Result<(EnvironmentImage, f32)>>,
}

impl EnvironmentFile {
    /// What is shown.
    pub(super) fn image(&self) -> Option<Arc<EnvironmentImage>> {
        self.shown.as_ref().map(|shown| shown.image.clone())
    }

    /// Its mean luminance; 0 without one.
    pub(super) fn luminance(&self) -> f32 {
        self.shown.as_ref().map_or(0.0, |shown| shown.luminance)
    }

    /// Reads the file again that is shown.
    pub(super) fn reload(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.is_stale = true;
        }
    }

    /// What is being read.
    pub(super) fn loading(&self) -> Option<&str> {
        self.loading.as_ref().map(|loading| loading.name.as_str())
    }

    /// Light from all around comes from this file once it has been read.
    pub(super) fn choose(&mut self, file: String) {
        self.chosen = Some(file);
    }

    /// Starts to read the file that was chosen, or else that `config` names, unless it is shown or being read. `most` are texels along its longer side
    /// that are of use; `wake` is called when the outcome is there.
    pub(super) fn follow(
        &mut self,
        config: &Config,
        most: u32,
        wake: impl FnOnce() + Send + 'static,
    ) {
        let named = config.environment.is_file();
        let named = named.then(|| config.environment.file.clone());
        let Some(name) = self.chosen.clone().or(named) else {
            return;
        };
        let parted = config.environment.sun;
        let coming = self.loading.as_ref();
        if coming.is_some_and(|coming| coming.name == name && coming.parted == parted) {
            return;
        }
        let shown = self.shown.as_ref();
        let is_shown = shown.is_some_and(|s| s.name == name && s.parted == parted && !s.is_stale);
        if is_shown && self.chosen.is_none() {
            self.loading = None;
            return;
        }
        let (sender, outcome) = mpsc::channel();
        let (path, config) = (name.clone(), config.clone());
        std::thread::spawn(move || {
            let image = environment::load_for(Path::new(&path), &config, most);
            let image = image.map(|image| {
                let luminance = image.mean_luminance();
                (image, luminance)
            });
            // Nobody listens any more where another one was chosen.
            sender.send(image).ok();
            wake();
        });
        self.loading = Some(Loading {
            name,
            parted,
            outcome,
        });
    }

    /// A file that has been read, once. One that failed leaves the settings at what is shown.
    pub(super) fn poll(&mut self, config: &mut Config) -> Option<Result<Arc<EnvironmentImage>>> {
        let Loading { name, outcome, .. } = self.loading.as_ref()?;
        let outcome = match outcome.try_recv() {
            Ok(outcome) => outcome,
            Err(mpsc::TryRecvError::Empty) => return None,
            // The thread is gone without a word: a fault of canopy's, but no reason to fall with it.
            Err(mpsc::TryRecvError::Disconnected) => Err(Error::scene(
                name,
                "loading failed unexpectedly; please report this file",
            )),
        };
        let Loading { name, parted, .. } = self.loading.take()?;
        let was_chosen = self.chosen.take_if(|chosen| *chosen == name).is_some();
        let wanted = &mut config.environment;
        Some(match outcome {
            Ok((image, luminance)) => {
                if was_chosen {
                    wanted.file.clone_from(&name);
                    wanted.source = EnvironmentSource::Auto;
                }
                let image = Arc::new(image);
                self.shown = Some(Shown {
                    name,
                    luminance,
                    image: image.clone(),
                    parted,
                    is_stale: false,
                });
                Ok(image)
            }
            Err(error) => {
                if let Some(shown) = &mut self.shown {
                    shown.is_stale = false;
                }
                if !was_chosen && wanted.file == name {
                    let shown = self.shown.as_ref();
                    wanted.file = shown.map(|shown| shown.name.clone()).unwrap_or_default();
                    wanted.sun = shown.map_or(wanted.sun, |shown| shown.parted);
                }
                Err(error)
            }
        })
    }
}

/// Whether a file that is dropped on the window is an environment, by its name.
pub(super) fn is_environment(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    let known = environment::EXTENSIONS;
    extension.is_some_and(|e| known.iter().any(|known| e == *known))
}
