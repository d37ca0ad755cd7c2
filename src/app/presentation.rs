//! The presentation while it goes on: the picture alone.

use std::time::Instant;

/// The presentation while it goes on.
#[derive(Debug)]
pub(super) struct Presentation {
    /// Whether the window filled the screen before.
    pub(super) was_full: bool,
    /// When the pointer moved last; `None` while it is hidden.
    pub(super) moved: Option<Instant>,
}
