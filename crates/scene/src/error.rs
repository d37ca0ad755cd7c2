//! Scene errors. Each is a single line with the name of the file or the object at fault.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::Once,
};

/// Result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of reading or querying a scene.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be opened, read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A scene or an environment is broken, or needs what canopy does not support.
    #[error("{}: {what}", path.display())]
    Scene {
        /// Path of the opened file.
        path: PathBuf,
        /// Description of the fault, with the accessor, node or key.
        what: String,
    },
    /// The opened folder holds several scenes.
    #[error("{}: holds {count} scenes; name one of {names}", folder.display())]
    SeveralScenes {
        /// Path of the folder.
        folder: PathBuf,
        /// Number of scenes in it.
        count: usize,
        /// Names of the first few.
        names: String,
    },
    /// Something that the user selected, such as a clip or a camera, does not exist in the scene.
    #[error("{0}")]
    NotFound(String),
    /// The scene is larger than the settings allow.
    #[error("{what}: {needed} needed, {allowed} allowed ({by})")]
    Limit {
        /// Part of the scene that exceeds the limit.
        what: String,
        /// Amount that is needed, with a unit.
        needed: String,
        /// Amount that is allowed, with a unit.
        allowed: String,
        /// Settings key of the limit.
        by: String,
    },
    /// The user cancelled the work.
    #[error("cancelled")]
    Cancelled,
}

impl Error {
    /// Creates an [`Error::Io`] for `path`.
    pub fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source,
        }
    }

    /// Creates an [`Error::Scene`] for `path`. The message is one line of limited length without control
    /// characters, whatever the file contains.
    pub fn scene(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        const LONGEST: usize = 500;
        let plain = |c: char| if c.is_control() { '?' } else { c };
        Self::Scene {
            path: path.into(),
            what: what.into().chars().take(LONGEST).map(plain).collect(),
        }
    }
}

thread_local! {
    /// True while this thread is in [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which calls a library that is known to panic instead of returning an error. Returns `None` if
/// it panicked, and prints nothing to standard error. After a panic, do not use anything that `work` was
/// modifying.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !GUARDED.get() {
                report(panic);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guarded_returns_none_on_panic() {
        assert_eq!(guarded(|| 3), Some(3));
        assert_eq!(guarded(|| guarded(|| panic!("inside"))), Some(None::<()>));
        assert!(!GUARDED.get());
    }
}
