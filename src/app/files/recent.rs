//! Recently opened scenes and environments, kept in a file of the platform's state folder.

use crate::{output, scene};
use serde::{Deserialize, Serialize};
use std::{
    io::Read as _,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// Maximum number of entries of each list.
const MAX_ENTRIES: usize = 20;

/// Maximum number of bytes that are read from the file, far more than the lists need.
const MAX_BYTES: u64 = 1 << 20;

/// Recently opened scenes and environments, latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(in crate::app) struct Recent {
    /// Scenes, each with all of its files.
    pub(in crate::app) scenes: Vec<Vec<PathBuf>>,
    /// Environment files.
    pub(in crate::app) environments: Vec<PathBuf>,
}

/// A scene or environment that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::app) enum Opened {
    /// The files of a scene.
    Scene(Vec<PathBuf>),
    Environment(PathBuf),
}

impl Opened {
    /// Makes the paths absolute, so that they are valid in every working directory.
    fn absolute(self) -> Self {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        match self {
            Self::Scene(files) => Self::Scene(files.into_iter().map(absolute).collect()),
            Self::Environment(file) => Self::Environment(absolute(file)),
        }
    }
}

impl Recent {
    /// Returns the files of all scenes, followed by the environments.
    pub(in crate::app) fn into_files(self) -> impl Iterator<Item = PathBuf> {
        let scenes = self.scenes.into_iter().flatten();
        scenes.chain(self.environments)
    }

    /// Reads the file. A missing or broken file yields empty lists.
    pub(in crate::app) fn read(file: &Path) -> Self {
        let mut text = String::new();
        let read = std::fs::File::open(file).and_then(|file| file.take(MAX_BYTES).read_to_string(&mut text));
        let mut recent: Self = match read {
            Ok(_) => serde_json::from_str(&text).unwrap_or_default(),
            Err(_) => Self::default(),
        };
        recent.scenes.retain(|files| !files.is_empty());
        recent.scenes.truncate(MAX_ENTRIES);
        recent.environments.truncate(MAX_ENTRIES);
        recent
    }

    /// Adds an entry at the front, or moves it there. A scene from standard input is not added, because it
    /// cannot be opened again.
    pub(in crate::app) fn add(&mut self, opened: Opened) {
        if let Opened::Scene(files) = &opened
            && (files.is_empty() || files.iter().any(|file| scene::is_stdin(file)))
        {
            return;
        }
        match opened.absolute() {
            Opened::Scene(files) => put_first(&mut self.scenes, files),
            Opened::Environment(file) => put_first(&mut self.environments, file),
        }
    }
}

fn put_first<T: PartialEq>(list: &mut Vec<T>, first: T) {
    list.retain(|other| *other != first);
    list.insert(0, first);
    list.truncate(MAX_ENTRIES);
}

/// Adds an entry to `file` on a thread. The file is read again first, because another window may have changed
/// it. Write errors are only logged, because nothing depends on the list.
pub(in crate::app) fn remember(file: &Path, opened: Opened) {
    let file = file.to_owned();
    std::thread::spawn(move || {
        if let Err(error) = add_to_file(&file, opened) {
            log::info!("{error}");
        }
    });
}

fn add_to_file(file: &Path, opened: Opened) -> crate::Result<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut recent = Recent::read(file);
    recent.add(opened);
    // JSON cannot hold paths that are not Unicode.
    recent
        .scenes
        .retain(|files| files.iter().all(|file| file.to_str().is_some()));
    recent.environments.retain(|file| file.to_str().is_some());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(|e| crate::Error::io(folder, e))?;
    }
    let text = serde_json::to_vec_pretty(&recent).unwrap_or_default();
    output::write(file, &text)
}

/// Returns the path of the list in the platform's state folder, or in its data folder if it has no state
/// folder. `None` if the user has no home folder.
pub(in crate::app) fn file() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "canopy")?;
    let folder = folders.state_dir().unwrap_or(folders.data_local_dir());
    Some(folder.join("recent.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_files_are_unique_and_latest_first() {
        let mut recent = Recent::default();
        for i in 0..30 {
            recent.add(Opened::Scene(vec![format!("/a/{i}.glb").into()]));
        }
        recent.add(Opened::Scene(vec!["/a/20.glb".into()]));
        recent.add(Opened::Scene(Vec::new()));
        recent.add(Opened::Scene(vec!["/a/1.glb".into(), "-".into()]));
        recent.add(Opened::Environment("/e.hdr".into()));
        recent.add(Opened::Environment("/e.hdr".into()));
        assert_eq!(recent.scenes.len(), MAX_ENTRIES);
        assert_eq!(recent.scenes[0], [PathBuf::from("/a/20.glb")]);
        assert_eq!(recent.scenes[1], [PathBuf::from("/a/29.glb")]);
        assert_eq!(recent.environments, [PathBuf::from("/e.hdr")]);
    }

    #[test]
    fn the_recent_file_is_extended_and_a_broken_one_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/recent.json");
        assert_eq!(Recent::read(&file), Recent::default());
        let scene = |name: &str| Opened::Scene(vec![PathBuf::from(name)]);
        add_to_file(&file, scene("/a.glb")).unwrap();
        add_to_file(&file, scene("b.glb")).unwrap();
        let read = Recent::read(&file);
        assert_eq!(read.scenes.len(), 2);
        assert!(read.scenes[0][0].is_absolute() && read.scenes[0][0].ends_with("b.glb"));
        for broken in ["{", "[]", "{\"scenes\": 3}", "{\"scenes\": [[]]}"] {
            std::fs::write(&file, broken).unwrap();
            assert_eq!(Recent::read(&file), Recent::default(), "{broken}");
        }
        add_to_file(&file, scene("/c.glb")).unwrap();
        assert_eq!(Recent::read(&file).scenes.len(), 1);
        assert_eq!(std::fs::read_dir(folder.path().join("new")).unwrap().count(), 1);
    }
}
