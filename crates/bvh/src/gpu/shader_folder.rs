//! A folder whose shaders stand in place of those that are compiled in, and the count of their changes.

use std::{
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// The folder, of all devices of the process: shaders are the program's, whatever device compiles them.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// Counts changes of files. Everything that was compiled before the last one is made again when it is needed.
static EDITION: AtomicU32 = AtomicU32::new(0);

/// Takes the files of `folder` in place of those with the same path that are compiled in. Only the first call has an effect,
/// which is returned; it has to come before a device compiles anything.
pub fn read_shaders_from(folder: PathBuf) -> bool {
    FOLDER.set(folder).is_ok()
}

/// The folder of [`read_shaders_from`].
pub fn shader_folder() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
}

/// The number of changes so far.
pub(super) fn edition() -> u32 {
    EDITION.load(Ordering::Acquire)
}

/// Files have changed.
pub(super) fn advance_edition() {
    EDITION.fetch_add(1, Ordering::AcqRel);
}
