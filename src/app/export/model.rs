//! What is exported: pictures or a video of the clip, a turn or the camera path.

/// What moves in an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Motion {
    /// The clip, seen from here.
    Clip,
    /// The camera, around the scene.
    Turn,
    /// The camera, along its keys.
    Path,
}

/// The files that are written, by the endings of their names.
pub(in crate::app) const FORMATS: [&str; 4] = ["png", "exr", "mp4", "webm"];

/// The settings of an export, beside `[output]`, and how far it has come.
#[derive(Debug)]
pub(in crate::app) struct Export {
    pub(in crate::app) motion: Motion,
    /// One of [`FORMATS`].
    pub(in crate::app) format: &'static str,
    /// Draws of each picture.
    pub(in crate::app) samples: u32,
    /// Seconds of a whole turn.
    pub(in crate::app) turn_secs: f32,
    /// The name of the file; empty for one in the folder for pictures.
    pub(in crate::app) file: String,
    /// Draws that are done, all draws, and all pictures, while it goes on.
    pub(in crate::app) progress: Option<[u64; 3]>,
    /// Whether the card that starts it is shown.
    pub(in crate::app) is_open: bool,
    /// Whether its button is to have the keyboard.
    pub(in crate::app) takes_keyboard: bool,
}

impl Default for Export {
    fn default() -> Self {
        Self {
            motion: Motion::Clip,
            format: "png",
            samples: 16,
            turn_secs: 8.0,
            file: String::new(),
            progress: None,
            is_open: false,
            takes_keyboard: false,
        }
    }
}

impl Export {
    /// How far it is, in words, while it goes on.
    pub(in crate::app) fn told(&self) -> Option<String> {
        let [done, total, frames] = self.progress?;
        let frame = (done * frames / total + 1).min(frames);
        Some(format!("exporting: frame {frame} of {frames}"))
    }
}
