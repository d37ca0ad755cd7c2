//! Numbers for versions of uploaded scenes.

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that nothing has had.
pub(crate) fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}
