//! Interface between features and the viewer's loop.

use crate::{Result, app::viewer::Viewer};

/// A feature that does its work asynchronously to the frames: on threads, or on the GPU without blocking.
pub(super) trait Feature {
    /// Reacts to changes once per frame, after the panel is laid out and before the scene is recorded. It
    /// starts work and takes results from threads.
    ///
    /// # Errors
    ///
    /// Errors to show to the user.
    fn follow(&self, _viewer: &mut Viewer) -> Result<()> {
        Ok(())
    }

    /// Takes the results of completed GPU readbacks.
    fn poll(&self, _viewer: &mut Viewer) {}

    /// True while a GPU readback is pending, so that the viewer keeps polling the device.
    fn is_awaited(&self, _viewer: &Viewer) -> bool {
        false
    }

    /// Drops resources of the lost device, and creates on the new device what the next frame needs.
    ///
    /// # Errors
    ///
    /// Errors to show to the user.
    fn device_lost(&self, _viewer: &mut Viewer) -> Result<()> {
        Ok(())
    }
}
