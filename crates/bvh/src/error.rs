//! The error type: each error is a single line that names the thing at fault.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::Once,
};

/// Shorthand for results of this library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can fail. Messages say what to do, as far as that is known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file of a folder of shaders could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The geometry is larger than the adapter supports.
    #[error("{what}: {needed} needed, {allowed} allowed ({by})")]
    Limit {
        /// What did not fit.
        what: String,
        /// How much it needs, with a unit.
        needed: String,
        /// How much is allowed, with a unit.
        allowed: String,
        /// What sets the limit.
        by: String,
    },
    /// Trees cannot be built over this geometry, or do not hold what they must.
    #[error("{0}")]
    Tree(String),
    /// A shader that cannot be composed, with its file and line.
    #[error("{0}")]
    Shader(String),
    /// Something that was named is not there: an adapter, a backend, an answer of the GPU.
    #[error("{0}")]
    NotFound(String),
    /// An argument that a function does not accept. Programs over this library make such errors.
    #[error("{0}")]
    Argument(String),
    /// The caller cancelled the work. Programs over this library make such errors.
    #[error("cancelled")]
    Cancelled,
    /// No usable adapter, a lost device, or an error that wgpu reported.
    #[error("{0}")]
    Gpu(String),
}

/// Folds a message of several lines into one.
pub(crate) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

thread_local! {
    /// Whether this thread is in [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which calls a library that is known to panic instead of returning an error. `None` if it
/// panicked, without a report on standard error; then whatever `work` was changing must not be used.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
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
    fn a_guarded_panic_is_none() {
        assert_eq!(guarded(|| 3), Some(3));
        assert_eq!(guarded(|| guarded(|| panic!("inside"))), Some(None::<()>));
        assert!(!GUARDED.get());
    }
}
