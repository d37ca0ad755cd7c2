//! Shaders of a folder, in place of those that are compiled in, and compiled again when its files change.

use super::{device::Gpu, shader};
use crate::Result;
use std::{
    path::{Path, PathBuf},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

/// The folder, of all devices of the process: shaders are the program's, whatever device compiles them.
static FOLDER: OnceLock<PathBuf> = OnceLock::new();

/// How often files have changed. What was compiled before the last time is made again when it is needed.
static EDITION: AtomicU32 = AtomicU32::new(0);

/// Takes the files of `folder` in place of those with the same path that are compiled in. Only the first call has an effect;
/// it has to come before a device compiles anything.
pub fn read_shaders_from(folder: PathBuf) {
    FOLDER.set(folder).ok();
}

/// That folder, if there is one.
pub fn shader_folder() -> Option<&'static Path> {
    FOLDER.get().map(PathBuf::as_path)
}

pub(super) fn edition() -> u32 {
    EDITION.load(Ordering::Acquire)
}

impl Gpu {
    /// Reads the shaders again that this device has compiled, and returns how many of them have changed, be it through an
    /// import. Their pipelines are compiled when a frame needs them; all others stay.
    ///
    /// # Errors
    ///
    /// The first fault, with file and line. Then all shaders stay as they were.
    pub fn reload_shaders(&self) -> Result<usize> {
        let mut changed = Vec::new();
        for ((path, arrays), known) in self.parsed() {
            let composed = shader::compose(self.shaders(), &path, arrays)?;
            if composed.text_hash() != known {
                let module = shader::parsed(self, &path, &composed)?;
                changed.push(((path, arrays), module));
            }
        }
        let count = changed.len();
        if count > 0 {
            self.replace_modules(changed);
            EDITION.fetch_add(1, Ordering::Release);
        }
        Ok(count)
    }
}
