//! Shaders that are read from a folder: what has changed shows in the window.

use super::{
    viewer::Viewer,
    wake::Wake,
    watch::{SHORT_INTERVAL, Watch},
};
use crate::{gpu::reload, render::SHADERS};

/// Headline of the card that shows a fault.
const BROKEN: &str = "A shader is broken";

impl Viewer {
    /// Watches the folder, if there is one.
    pub(super) fn watch_shaders(&mut self) {
        let Some(folder) = reload::shader_folder() else {
            return;
        };
        let files = SHADERS.files().map(|(path, _)| folder.join(path));
        let waker = self.waker.clone();
        let changed = move || waker.send(Wake::ShadersChanged);
        self.watches.shaders = Some(Watch::new(files.collect(), SHORT_INTERVAL, changed));
    }

    /// Draws with what the files hold now, or says what is wrong with them and goes on with what was there.
    pub(super) fn reload_shaders(&mut self) {
        match self.graphics.gpu.reload_shaders() {
            Ok(changed) => {
                let shown = self.state.error.as_ref();
                if shown.is_some_and(|error| error.headline == BROKEN) {
                    self.state.error = None;
                }
                if changed > 0 {
                    log::info!("{changed} shaders have changed");
                    self.graphics.renderer.restart_paths();
                    self.schedule.forget();
                }
            }
            Err(error) => {
                log::error!("{error}");
                self.state.fail(BROKEN, error.to_string());
            }
        }
    }
}
