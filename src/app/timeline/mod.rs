//! The timeline.

pub(in crate::app) mod model;
pub(in crate::app) mod view;

/// Playback state of the clip.
#[derive(Debug, Default)]
pub(in crate::app) struct Playback {
    /// True if clips play automatically when `animation.play` is `auto`.
    pub(in crate::app) clips_play: bool,
    /// True if the clip of a newly opened scene did not start under `auto`, and the user has not used
    /// playback since.
    pub(in crate::app) is_paused_still: bool,
    /// True while the clip plays.
    pub(in crate::app) playing: bool,
}
