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
        }
    }
}
