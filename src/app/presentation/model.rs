//! State of presentation mode, which shows only the picture.

use std::time::Instant;

/// State of the running presentation.
#[derive(Debug)]
pub(in crate::app) struct Presentation {
    /// True if the window was in full screen before.
    pub(in crate::app) was_full: bool,
    /// Time at which the pointer last moved. `None` while it is hidden.
    pub(in crate::app) moved: Option<Instant>,
}
