//! Environment file. A thread reads it when the settings name another one.

use crate::{
    app::state::State,
    config::{Config, EnvironmentSource, Switch},
    render::environment::load_environment,
    scene::{
        Error, Result,
        environment::{self, EnvironmentImage},
    },
};
use std::{
    path::Path,
    sync::{Arc, mpsc},
};

/// The loaded environment file, and the one that is being read.
#[derive(Debug, Default)]
pub(in crate::app) struct EnvironmentFile {
    shown: Option<LoadedFile>,
    loading: Option<Reading>,
    /// File that the user chose. The settings name it only once it has been read.
    chosen: Option<String>,
}

#[derive(Debug)]
struct LoadedFile {
    name: String,
    image: Arc<EnvironmentImage>,
    /// Mean luminance over the sphere in cd/m².
    luminance: f32,
    /// True if a sun in the image was removed from it and has become a light.
    sun_is_light: bool,
    /// True if the file must be read again.
    is_stale: bool,
}

/// A file that is being read.
#[derive(Debug)]
struct Reading {
    name: String,
    sun_is_light: bool,
    /// Receiver of the image and its mean luminance over the sphere.
    outcome: mpsc::Receiver<Result<(EnvironmentImage, f32)>>,
}

impl EnvironmentFile {
    /// Returns the loaded environment.
    pub(in crate::app) fn image(&self) -> Option<Arc<EnvironmentImage>> {
        self.shown.as_ref().map(|shown| shown.image.clone())
    }

    /// Returns the mean luminance of the loaded environment, as far as it lights the scene with these
    /// settings. 0 without an environment.
    pub(in crate::app) fn luminance(&self, config: &Config) -> f32 {
        self.shown.as_ref().map_or(0.0, |shown| {
            shown
                .image
                .lighting_luminance(shown.luminance, config.sun.enabled == Switch::On)
        })
    }

    /// Makes the next [`Self::follow`] read the loaded file again.
    pub(in crate::app) fn reload(&mut self) {
        if let Some(shown) = &mut self.shown {
            shown.is_stale = true;
        }
        // The pending read may have read parts of the old file.
        self.loading = None;
    }

    /// Cancels reading, and makes `config` name the loaded file again. Returns true if a file was being read.
    pub(in crate::app) fn cancel(&mut self, config: &mut Config) -> bool {
        let Some(reading) = self.loading.take() else {
            return false;
        };
        self.chosen = None;
        self.fall_back(config, &reading.name);
        true
    }

    /// Makes `config` name the loaded file again if it names `name`, which cannot be loaded.
    fn fall_back(&mut self, config: &mut Config, name: &str) {
        let wanted = &mut config.environment;
        if let Some(shown) = &mut self.shown {
            shown.is_stale = false;
        }
        if wanted.file == name {
            let shown = self.shown.as_ref();
            wanted.file = shown.map(|shown| shown.name.clone()).unwrap_or_default();
            wanted.sun = shown.map_or(wanted.sun, |shown| shown.sun_is_light);
        }
    }

    /// Returns the name of the file that is being read.
    pub(in crate::app) fn loading(&self) -> Option<&str> {
        self.loading.as_ref().map(|loading| loading.name.as_str())
    }

    /// Chooses a file. The settings and the environment change only once it has been read.
    pub(in crate::app) fn choose(&mut self, file: String) {
        self.chosen = Some(file);
    }

    /// Starts to read the chosen file, or else the one that `config` names. Does nothing if that file is
    /// being read, or if `config` names it and it is loaded and up to date. `most` is the largest useful
    /// number of texels along the longer side. The thread calls `wake` once the outcome exists.
    pub(in crate::app) fn follow(
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
        let sun_is_light = config.environment.sun;
        let coming = self.loading.as_ref();
        if coming.is_some_and(|coming| coming.name == name && coming.sun_is_light == sun_is_light) {
            return;
        }
        let shown = self.shown.as_ref();
        let is_shown = shown
            .is_some_and(|shown| shown.name == name && shown.sun_is_light == sun_is_light && !shown.is_stale);
        if is_shown && self.chosen.is_none() {
            self.loading = None;
            return;
        }
        let (sender, outcome) = mpsc::channel();
        let (path, config) = (name.clone(), config.clone());
        std::thread::spawn(move || {
            let image = load_environment(Path::new(&path), &config, most);
            let image = image.map(|image| {
                let luminance = image.mean_luminance();
                (image, luminance)
            });
            // Sending fails if another file was chosen in the meantime.
            sender.send(image).ok();
            wake();
        });
        self.loading = Some(Reading {
            name,
            sun_is_light,
            outcome,
        });
    }

    /// Returns the environment or the error once, when reading has ended. A chosen file is then written to
    /// `config`. After an error, `config` names the loaded file again.
    pub(in crate::app) fn poll(&mut self, config: &mut Config) -> Option<Result<Arc<EnvironmentImage>>> {
        let Reading { name, outcome, .. } = self.loading.as_ref()?;
        let outcome = match outcome.try_recv() {
            Ok(outcome) => outcome,
            Err(mpsc::TryRecvError::Empty) => return None,
            // The loading thread panicked. That is a bug in canopy, but the viewer can continue.
            Err(mpsc::TryRecvError::Disconnected) => Err(Error::scene(
                name,
                "loading failed unexpectedly; please report a bug with this file",
            )),
        };
        let Reading {
            name, sun_is_light, ..
        } = self.loading.take()?;
        let was_chosen = self.chosen.take_if(|chosen| *chosen == name).is_some();
        let wanted = &mut config.environment;
        Some(match outcome {
            Ok((image, luminance)) => {
                if was_chosen {
                    wanted.file.clone_from(&name);
                    wanted.source = EnvironmentSource::Auto;
                }
                let image = Arc::new(image);
                self.shown = Some(LoadedFile {
                    name,
                    luminance,
                    image: image.clone(),
                    sun_is_light,
                    is_stale: false,
                });
                Ok(image)
            }
            Err(error) => {
                self.fall_back(config, &name);
                Err(error)
            }
        })
    }
}

impl State {
    /// Switches to the next environment: from the studio to the sky, the file if the settings name one, and
    /// back.
    pub(in crate::app) fn next_environment(&mut self) {
        let stage = self.stage.as_ref();
        let is_sky = match stage {
            Some(stage) => self.config.adapted_to(&stage.scene).environment.is_sky(),
            None => self.config.environment.is_sky(),
        };
        let environment = &mut self.config.environment;
        let (source, name) = if is_sky && !environment.file.is_empty() {
            (EnvironmentSource::Auto, "the file")
        } else if environment.is_studio() && !is_sky {
            (EnvironmentSource::Sky, "the sky")
        } else {
            (EnvironmentSource::Studio, "the studio")
        };
        environment.source = source;
        self.notify(format!("environment: {name}"));
    }
}

/// True if the extension of `path` is one of an environment file.
pub(in crate::app) fn is_environment(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    let known = environment::EXTENSIONS;
    extension.is_some_and(|e| known.iter().any(|known| e == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cycle includes the file only if the settings name one.
    #[test]
    fn the_environment_key_cycles_through_the_sources() {
        use EnvironmentSource::{Auto, Sky, Studio};
        let mut state = State::new(Config::default());
        let next = |state: &mut State| {
            state.next_environment();
            state.config.environment.source
        };
        assert_eq!([(); 3].map(|()| next(&mut state)), [Sky, Studio, Sky]);
        state.config.environment.file = "a.hdr".into();
        assert_eq!([(); 3].map(|()| next(&mut state)), [Auto, Studio, Sky]);
    }
}
