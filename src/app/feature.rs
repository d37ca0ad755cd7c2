//! Features of the viewer, as its loop and its recovery see them.

use crate::{Result, app::viewer::Viewer};

/// A feature that works beside the frame: on threads, or on the GPU without a wait.
pub(super) trait Feature {
    /// Follows what has changed, once the panel has been drawn and before the scene is recorded: starts work, and takes
    /// outcomes of threads.
    ///
    /// # Errors
    ///
    /// Errors to show to the person.
    fn follow(&self, _viewer: &mut Viewer) -> Result<()> {
        Ok(())
    }

    /// Takes what has come back from the GPU.
    fn poll(&self, _viewer: &mut Viewer) {}

    /// True while something is on its way back from the GPU.
    fn is_awaited(&self, _viewer: &Viewer) -> bool {
        false
    }

    /// Forgets what lay on a device that is lost, and makes on the new one what the next frame needs.
    ///
    /// # Errors
    ///
    /// Errors to show to the person.
    fn device_lost(&self, _viewer: &mut Viewer) -> Result<()> {
        Ok(())
    }
}
