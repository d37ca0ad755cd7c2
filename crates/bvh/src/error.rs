//! The error type. Each message is a single line with the file, argument or limit at fault.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    sync::Once,
};

/// Result of this library's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can fail. If the remedy is known, the message includes it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file in a shader folder could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error from the operating system.
        source: std::io::Error,
    },
    /// The geometry is larger than the adapter supports.
    #[error("{what}: {needed} needed, {allowed} allowed ({by})")]
    Limit {
        /// Name of the resource that exceeds the limit.
        what: String,
        /// Required amount, with its unit.
        needed: String,
        /// Allowed amount, with its unit.
        allowed: String,
        /// Source of the limit.
        by: String,
    },
    /// No BVH can be built over the geometry, a BVH failed validation, or a query does not support the BVH.
    #[error("{0}")]
    Tree(String),
    /// A shader could not be composed. The message includes the source file and line.
    #[error("{0}")]
    Shader(String),
    /// The requested adapter or backend does not exist, or the GPU returned no result.
    #[error("{0}")]
    NotFound(String),
    /// A function rejected an argument. This variant is for programs built on this library.
    #[error("{0}")]
    Argument(String),
    /// The caller cancelled the work. This variant is for programs built on this library.
    #[error("cancelled")]
    Cancelled,
    /// No usable adapter, a lost device, or an error that wgpu reported.
    #[error("{0}")]
    Gpu(String),
}

/// Joins a multi-line message into one line.
pub(crate) fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

thread_local! {
    /// True while this thread runs inside [`guarded`].
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which calls a library that is known to panic instead of returning an error. Returns `None` if
/// it panicked and prints nothing to standard error. After a panic, do not use anything that `work` was
/// modifying.
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
    fn guarded_returns_none_on_panic() {
        assert_eq!(guarded(|| 3), Some(3));
        assert_eq!(guarded(|| guarded(|| panic!("inside"))), Some(None::<()>));
        assert!(!GUARDED.get());
    }
}
