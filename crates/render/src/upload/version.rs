//! Version numbers of uploaded scenes.

use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a new unique version.
pub(crate) fn next_version() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}
