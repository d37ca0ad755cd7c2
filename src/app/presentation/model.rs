//! The presentation while it goes on: the picture alone.

use std::time::Instant;

/// The presentation while it goes on.
#[derive(Debug)]
pub(in crate::app) struct Presentation {
    /// Whether the window filled the screen before.
    pub(in crate::app) was_full: bool,
    /// When the pointer moved last; `None` while it is hidden.
    pub(in crate::app) moved: Option<Instant>,
}
