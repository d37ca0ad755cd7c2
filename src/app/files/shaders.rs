//! Shaders that are read from a folder: what has changed shows in the window.

use crate::{
    app::{
        files::watch::{SHORT_INTERVAL, Watch},
        viewer::{UNDRAWN, Viewer},
        window::wake::Wake,
    },
    device::SHADERS,
    gpu::shader_folder::shader_folder,
};

/// Headline of the card that shows a fault.
const BROKEN: &str = "A shader is broken";

impl Viewer {
    /// Watches the folder, if there is one.
    pub(in crate::app) fn watch_shaders(&mut self) {
        let Some(folder) = shader_folder() else {
            return;
        };
        let files = SHADERS.files().map(|(path, _)| folder.join(path));
        let waker = self.waker.clone();
        let changed = move || waker.send(Wake::ShadersChanged);
        self.watches.shaders = Some(Watch::new(files.collect(), SHORT_INTERVAL, changed));
    }

    /// Draws with what the files hold now, or says what is wrong with them and goes on with what was there.
    pub(in crate::app) fn reload_shaders(&mut self) {
        match self.graphics.gpu.reload_shaders() {
            Ok(changed) => {
                log::info!("{changed} shaders have changed");
                let shown = self.state.ui.error.as_ref();
                if shown.is_some_and(|error| [BROKEN, UNDRAWN].contains(&error.headline.as_str())) {
                    self.state.ui.error = None;
                }
                self.graphics.renderer.restart_paths();
                // Side B is made anew.
                self.forget_comparison();
                // A shader that was never good is in no picture yet, so none has changed.
                self.schedule.forget();
            }
            Err(error) => {
                log::error!("{error}");
                self.state.fail(BROKEN, error.to_string());
            }
        }
    }
}
