//! Settings and progress of an export of pictures or a video.

/// Motion that an export shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::app) enum Motion {
    /// The clip, from the current camera.
    Clip,
    /// A full turn of the camera around the scene.
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
    /// Number of samples that each picture averages.
    pub(in crate::app) samples: u32,
    /// Duration of the full turn in seconds.
    pub(in crate::app) turn_secs: f32,
    /// Path of the output file. Empty for a new file in the user's picture folder.
    pub(in crate::app) file: String,
    /// Number of finished samples, of all samples, and of all pictures of the running export.
    pub(in crate::app) progress: Option<[u64; 3]>,
    /// True if the export card is shown.
    pub(in crate::app) is_open: bool,
    /// True if the next frame must focus the button that starts the export.
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
    /// Returns the progress of the running export as text. `None` if none is running.
    pub(in crate::app) fn description(&self) -> Option<String> {
        let [done, total, frames] = self.progress?;
        let frame = (done * frames / total + 1).min(frames);
        Some(format!("exporting: frame {frame} of {frames}"))
    }
}
