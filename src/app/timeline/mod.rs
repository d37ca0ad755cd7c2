//! The timeline.

pub(in crate::app) mod model;
pub(in crate::app) mod view;

/// The clip as it plays.
#[derive(Debug, Default)]
pub(in crate::app) struct Playback {
    /// Whether clips play by themselves where the settings leave it open.
    pub(in crate::app) clips_play: bool,
    /// Whether the scene has a clip that did not begin to play for that, and the person has not either.
    pub(in crate::app) is_paused_still: bool,
    /// Whether the clip plays.
    pub(in crate::app) playing: bool,
}
