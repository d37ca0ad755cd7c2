//! The timeline.

pub(in crate::app) mod model;
pub(in crate::app) mod view;

/// Playback state of the clip.
#[derive(Debug, Default)]
pub(in crate::app) struct Playback {
    /// True if clips play automatically unless the settings specify it.
    pub(in crate::app) clips_play: bool,
    /// True if the clip did not start automatically and the user has not started it either.
    pub(in crate::app) is_paused_still: bool,
    /// True while the clip plays.
    pub(in crate::app) playing: bool,
}
