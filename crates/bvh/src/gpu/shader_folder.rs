//! Folder whose shaders replace the compiled-in ones, and a counter of their changes.

use std::{
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// Folder for all devices of the process, because shaders belong to the program and not to a device.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Counter of file changes. Everything compiled before the last change is recompiled when it is needed.
static EDITION: AtomicU32 = AtomicU32::new(0);

/// Makes the files of `folder` replace compiled-in files with the same path. Only the first call has an
/// effect, and only that one returns true. It must precede any compilation on a device.
pub fn read_shaders_from(folder: PathBuf) -> bool {
    FOLDER.set(folder).is_ok()
}

/// Returns the folder of [`read_shaders_from`].
pub fn shader_folder() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
}

/// Returns the number of changes so far.
pub(super) fn generation() -> u32 {
    EDITION.load(Ordering::Acquire)
}

/// Counts a change of the files.
pub(super) fn advance_edition() {
    EDITION.fetch_add(1, Ordering::AcqRel);
}
