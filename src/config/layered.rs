//! Layered settings: defaults, files and command-line options.

use super::{Config, Value, document};
use crate::{Error, Result};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Settings with the origin of each value.
#[derive(Debug, Default)]
pub struct Layered {
    /// Merged settings.
    pub config: Config,
    /// Settings files, in the order in which they are applied. Not all of them exist.
    pub files: Vec<SettingsFile>,
    /// Origin of each key that a file or an option sets.
    origins: BTreeMap<String, String>,
}

/// A settings file that may exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsFile {
    /// Path of the file.
    pub path: PathBuf,
    /// True if the file exists and was applied.
    pub exists: bool,
}

impl Layered {
    /// Applies these layers to the defaults, in this order: the platform's `config.toml`, `canopy.toml` in
    /// the current folder, `explicit`, and `sets`. Each entry of `sets` is `KEY=VALUE`, where the value is
    /// TOML, or a bare word for a string.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if a file cannot be read. [`Error::Config`] for an unknown key or a wrong value. The
    /// message names the file and the key.
    pub fn read(explicit: Option<&Path>, sets: &[String]) -> Result<Self> {
        let mut layered = Self::default();
        let implied = [user_file(), Some("canopy.toml".into())];
        for path in implied.into_iter().flatten() {
            match std::fs::read_to_string(&path) {
                Ok(text) => layered.merge(path, &text)?,
                Err(e) if is_missing(&e) => {
                    layered.files.push(SettingsFile { path, exists: false });
                }
                Err(e) => return Err(Error::io(path, e)),
            }
        }
        if let Some(path) = explicit {
            let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
            layered.merge(path.to_owned(), &text)?;
        }
        for set in sets {
            let key = layered.config.set_text("--set", set)?;
            layered.origins.insert(key, "--set".into());
        }
        Ok(layered)
    }

    fn merge(&mut self, path: PathBuf, text: &str) -> Result<()> {
        let origin = path.display().to_string();
        for (key, value) in document(&self.config, &origin, text)? {
            self.set(&origin, &key, value)?;
        }
        self.files.push(SettingsFile { path, exists: true });
        Ok(())
    }

    /// Sets one key and records `origin` as its origin.
    ///
    /// # Errors
    ///
    /// Any error of [`Config::set`].
    pub fn set(&mut self, origin: &str, key: &str, value: impl Into<Value>) -> Result<()> {
        self.config.set(origin, key, value)?;
        self.origins.insert(key.into(), origin.into());
        Ok(())
    }

    /// Returns the origin of the value of `key`: the path of a file, or an option. `None` if nothing sets the
    /// key.
    pub fn origin(&self, key: &str) -> Option<&str> {
        self.origins.get(key).map(String::as_str)
    }
}

/// Returns the path of the user's `config.toml`, in the platform's folder for configuration.
pub(super) fn user_file() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "canopy")?;
    Some(folders.config_dir().join("config.toml"))
}

/// True if the file does not exist, or if its parent cannot be a folder, as below `/dev/null`.
pub(super) fn is_missing(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_records_its_origin() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine.toml");
        std::fs::write(
            &path,
            "[shadows]\nmode = \"map\"\nmap_pcf_width = 5\n[camera]\nfov = 60",
        )
        .unwrap();
        let sets = ["camera.fov = 30".to_owned()];
        let mut layered = Layered::read(Some(&path), &sets).unwrap();
        layered.set("--adapter", "gpu.adapter", "x").unwrap();
        let file = path.display().to_string();
        assert_eq!(layered.origin("shadows.mode"), Some(file.as_str()));
        assert_eq!(layered.origin("camera.fov"), Some("--set"));
        assert_eq!(layered.origin("gpu.adapter"), Some("--adapter"));
        assert_eq!(layered.origin("tree.rebuild"), None);
        assert_eq!(layered.config.camera.fov, 30.0);
        let last = layered.files.last().unwrap();
        assert_eq!((&last.path, last.exists), (&path, true));
    }
}
