//! State of the export: pictures or a video of the clip, a turntable or the camera path.

/// Motion of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Motion {
    /// The clip, from the current camera.
    Clip,
    /// A full rotation of the camera around the scene.
    Turn,
    /// The camera along its path.
    Path,
}

/// Supported file extensions.
pub(in crate::app) const FORMATS: [&str; 4] = ["png", "exr", "mp4", "webm"];

/// Settings of an export in addition to `[output]`, and its progress.
#[derive(Debug)]
pub(in crate::app) struct Export {
    pub(in crate::app) motion: Motion,
    /// One of [`FORMATS`].
    pub(in crate::app) format: &'static str,
    /// Samples of each picture.
    pub(in crate::app) samples: u32,
    /// Duration of a full rotation in seconds.
    pub(in crate::app) turn_secs: f32,
    /// Name of the file. Empty for a file in the picture folder.
    pub(in crate::app) file: String,
    /// Finished draws, all draws, and all pictures of a running export.
    pub(in crate::app) progress: Option<[u64; 3]>,
    /// True if the card that starts it is shown.
    pub(in crate::app) is_open: bool,
    /// True if its button must be focused.
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
    /// Progress of a running export as text.
    pub(in crate::app) fn description(&self) -> Option<String> {
        let [done, total, frames] = self.progress?;
        let frame = (done * frames / total + 1).min(frames);
        Some(format!("exporting: frame {frame} of {frames}"))
    }
}
