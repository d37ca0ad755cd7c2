//! Reference surface of the deviation. A thread reads its file when the settings name another one.

use crate::{
    config::{self, Config},
    scene::{Error, Result, compared::ReferenceSurface},
};
use std::{
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
};

/// The current reference surface, and the one that is being read.
#[derive(Debug, Default)]
pub(in crate::app) struct DeviationFile {
    shown: Option<(String, Arc<ReferenceSurface>)>,
    /// True if the file of the current surface must be read again.
    is_stale: bool,
    loading: Option<(String, mpsc::Receiver<Result<ReferenceSurface>>)>,
}

/// Properties of the reference surface for the panel.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::app) struct ComparedWith {
    /// Number of triangles.
    pub(in crate::app) triangles: usize,
    /// Number of edges that do not belong to exactly two triangles.
    pub(in crate::app) open_edges: usize,
    size: f32,
}

impl ComparedWith {
    /// Returns the distance in metres at which the colour scale ends.
    pub(in crate::app) fn range(&self, settings: &config::Deviation) -> f32 {
        settings.range(self.size)
    }
}

impl From<&ReferenceSurface> for ComparedWith {
    fn from(compared: &ReferenceSurface) -> Self {
        Self {
            triangles: compared.triangles.len(),
            open_edges: compared.surface.open_edges(),
            size: compared.surface.size() as f32,
        }
    }
}

impl DeviationFile {
    /// Returns the path of the current surface, as the settings name it.
    pub(in crate::app) fn name(&self) -> Option<&str> {
        self.shown.as_ref().map(|(name, _)| name.as_str())
    }

    /// Returns the current surface.
    pub(in crate::app) fn surface(&self) -> Option<Arc<ReferenceSurface>> {
        self.shown.as_ref().map(|(_, surface)| surface.clone())
    }

    /// Returns the files to watch: all files of the surface that `config` names if it is loaded, or else only
    /// the named file. Empty if `config` names none.
    pub(in crate::app) fn files(&self, config: &Config) -> Vec<PathBuf> {
        let name = &config.deviation.file;
        match &self.shown {
            Some((shown, surface)) if shown == name => surface.files.clone(),
            _ if name.is_empty() => Vec::new(),
            _ => vec![name.into()],
        }
    }

    /// Makes the next [`Self::follow`] read the file of the current surface again.
    pub(in crate::app) fn reload(&mut self) {
        self.is_stale = self.shown.is_some();
        // The pending read may have read parts of the old file.
        self.loading = None;
    }

    /// True while a file is being read.
    pub(in crate::app) fn is_loading(&self) -> bool {
        self.loading.is_some()
    }

    /// Starts to read the file that `config` names, unless it is loaded and up to date or is being read. The
    /// thread calls `wake` once the outcome exists. If `config` names no file, drops the surface and returns
    /// true if there was one.
    pub(in crate::app) fn follow(&mut self, config: &Config, wake: impl FnOnce() + Send + 'static) -> bool {
        let name = &config.deviation.file;
        if name.is_empty() {
            (self.loading, self.is_stale) = (None, false);
            return self.shown.take().is_some();
        }
        let is_coming = self.loading.as_ref().is_some_and(|(coming, _)| coming == name);
        let shown = self.shown.as_ref().filter(|_| !self.is_stale);
        let is_shown = shown.is_some_and(|(shown, _)| shown == name);
        if is_coming || is_shown {
            if is_shown {
                self.loading = None;
            }
            return false;
        }
        let (sender, outcome) = mpsc::channel();
        let (path, config) = (name.clone(), config.clone());
        std::thread::spawn(move || {
            // Sending fails if another file was chosen in the meantime.
            sender
                .send(ReferenceSurface::load(Path::new(&path), &config))
                .ok();
            wake();
        });
        self.loading = Some((name.clone(), outcome));
        false
    }

    /// Returns the surface or the error once, when reading has ended. After an error, `config` names the file
    /// of the current surface again.
    pub(in crate::app) fn poll(&mut self, config: &mut Config) -> Option<Result<Arc<ReferenceSurface>>> {
        let (name, outcome) = self.loading.as_ref()?;
        let outcome = match outcome.try_recv() {
            Ok(outcome) => outcome,
            Err(mpsc::TryRecvError::Empty) => return None,
            // The loading thread panicked. That is a bug in canopy, but the viewer can continue.
            Err(mpsc::TryRecvError::Disconnected) => Err(Error::scene(
                name,
                "loading failed unexpectedly; please report a bug with this file",
            )),
        };
        let (name, _) = self.loading.take()?;
        self.is_stale = false;
        Some(match outcome {
            Ok(surface) => {
                let surface = Arc::new(surface);
                self.shown = Some((name, surface.clone()));
                Ok(surface)
            }
            Err(error) => {
                let shown = self.shown.as_ref().map(|(shown, _)| shown.clone());
                config.deviation.file = shown.unwrap_or_default();
                Err(error)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(file: &mut DeviationFile, config: &mut Config) -> Result<Arc<ReferenceSurface>> {
        assert!(!file.follow(config, || {}));
        loop {
            if let Some(outcome) = file.poll(config) {
                return outcome;
            }
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_file_is_read_once_and_a_broken_file_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.obj");
        std::fs::write(&path, "v 0 0 0\nv 3 0 0\nv 0 4 0\nf 1 2 3\n").unwrap();
        let name = path.to_str().unwrap().to_owned();
        let mut config = Config::default();
        let mut file = DeviationFile::default();
        config.deviation.file.clone_from(&name);
        let compared = outcome(&mut file, &mut config).unwrap();
        let told = ComparedWith::from(&*compared);
        assert_eq!((told.triangles, told.open_edges), (1, 3));
        assert!((told.range(&config.deviation) - 0.05).abs() < 1e-6);
        config.deviation.tolerance = 2.0;
        assert_eq!(told.range(&config.deviation), 2.0);
        assert!(!file.follow(&config, || {}) && !file.is_loading());
        config.deviation.file = folder.path().join("no.obj").to_str().unwrap().into();
        assert!(outcome(&mut file, &mut config).is_err());
        assert!(config.deviation.file == name && file.surface().is_some());
        config.deviation.file.clear();
        assert!(file.follow(&config, || {}) && file.surface().is_none());
        // A changed file is read again. If it is broken, the previous surface is kept.
        config.deviation.file.clone_from(&name);
        outcome(&mut file, &mut config).unwrap();
        std::fs::write(&path, "v 0 0 0\nv 6 0 0\nv 0 8 0\nf 1 2 3\n").unwrap();
        file.reload();
        let again = ComparedWith::from(&*outcome(&mut file, &mut config).unwrap());
        assert!((again.range(&Config::default().deviation) - 0.1).abs() < 1e-6);
        std::fs::write(&path, "f 1 2 3\n").unwrap();
        file.reload();
        assert!(outcome(&mut file, &mut config).is_err());
        assert!(config.deviation.file == name && file.surface().is_some());
        assert!(!file.follow(&config, || {}) && !file.is_loading());
    }
}
