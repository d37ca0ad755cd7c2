//! What is exported: pictures or a video of the clip, a turn or the camera path.

/// What moves in an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Motion {
    /// The clip, seen from here.
    Clip,
    /// The camera, around the scene.
    Turn,
    /// The camera, along its keys.
    Path,
}

/// The files that are written, by the endings of their names.
pub(super) const FORMATS: [&str; 4] = ["png", "exr", "mp4", "webm"];

/// The settings of an export, beside `[output]`, and how far it has come.
#[derive(Debug)]
pub(super) struct Export {
    pub(super) motion: Motion,
    /// One of [`FORMATS`].
    pub(super) format: &'static str,
    /// Draws of each picture.
    pub(super) samples: u32,
    /// Seconds of a whole turn.
    pub(super) turn_secs: f32,
    /// The name of the file; empty for one in the folder for pictures.
    pub(super) file: String,
    /// Draws that are done, all draws, and all pictures, while it goes on.
    pub(super) progress: Option<[u64; 3]>,
    /// Whether the card that starts it is shown.
    pub(super) is_open: bool,
    /// Whether its button is to have the keyboard.
    pub(super) takes_keyboard: bool,
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
    pub(super) fn told(&self) -> Option<String> {
        let [done, total, frames] = self.progress?;
        let frame = (done * frames / total + 1).min(frames);
        Some(format!("exporting: frame {frame} of {frames}"))
    }
}
