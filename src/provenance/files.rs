//! File references in a picture's metadata, and the search for these files.

use crate::{Error, Result, config, scene};
use serde::{Deserialize, Serialize};
use std::path::{Component, Path, PathBuf};

/// Reference to a file in a picture's metadata: a path relative to the picture's folder, or only a file name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRef {
    name: String,
    /// Size in bytes, which helps to identify the file. `None` if the file could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
}

impl FileRef {
    pub(super) fn new(file: &Path, folder: Option<&Path>) -> Self {
        let bytes = std::fs::metadata(file).ok().filter(|what| what.is_file());
        Self {
            name: kept_name(file, folder),
            bytes: bytes.map(|what| what.len()),
        }
    }

    pub(super) fn named(name: &str) -> Self {
        Self {
            name: name.into(),
            bytes: None,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// True if `file` has the same file name, and the same size if that is known.
    pub fn is_like(&self, file: &Path) -> bool {
        let name = Path::new(&self.name).file_name();
        name.is_some()
            && file.file_name() == name
            && std::fs::metadata(file).is_ok_and(|what| self.bytes.is_none_or(|bytes| what.len() == bytes))
    }
}

/// Returns the path of `file` relative to `folder`, with forward slashes, if it is inside. Otherwise returns
/// only the file name, because a full path would reveal the user's folder names.
pub(super) fn kept_name(file: &Path, folder: Option<&Path>) -> String {
    let inside = folder.and_then(|folder| {
        // The parent of a bare file name is an empty path.
        let is_here = folder.as_os_str().is_empty();
        let folder = if is_here { Path::new(".") } else { folder };
        let [file, folder] = [file, folder].map(|path| std::path::absolute(path).ok());
        let inside = file?.strip_prefix(folder?).ok()?.to_owned();
        let parts = inside.components().map(|part| part.as_os_str().to_str());
        Some(parts.collect::<Option<Vec<_>>>()?.join("/"))
    });
    inside.filter(|inside| is_safe(inside)).unwrap_or_else(|| {
        let name = file.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    })
}

/// True if a relative path stays within its base folder.
pub(super) fn is_safe(name: &str) -> bool {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    // Windows has drive letters and alternate data streams after a colon.
    let is_windows = cfg!(windows) && name.contains(':');
    !name.contains('\0') && !is_windows && Path::new(name).components().all(is_plain)
}

/// Search path for the files of a picture.
pub struct Search<'a> {
    /// Path of the picture.
    pub picture: &'a Path,
    /// Load limits, which also decide whether links may lead out of the picture's folder.
    pub limits: &'a config::Load,
    /// Finds a file that is not in the picture's folder, such as a recently opened one.
    pub elsewhere: &'a dyn Fn(&FileRef) -> Option<PathBuf>,
}

impl std::fmt::Debug for Search<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Search")
            .field("picture", &self.picture)
            .finish_non_exhaustive()
    }
}

impl<'a> Search<'a> {
    /// Returns the path of `file`.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] if the file is not found, or is a link that leads out of the picture's folder.
    pub fn find(&self, file: &FileRef) -> Result<PathBuf> {
        let (picture, name) = (self.picture.display(), &file.name);
        match scene::find_beside(self.picture, name, self.limits) {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(why) => return Err(Error::NotFound(format!("{picture}: {why}"))),
        }
        (self.elsewhere)(file).ok_or_else(|| {
            Error::NotFound(format!(
                "{picture}: was made from {name}, which is missing; put it beside the picture, or name the \
                 files"
            ))
        })
    }
}
