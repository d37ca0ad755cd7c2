//! Shaders that are read from a folder: what has changed shows in the window.

use crate::app;
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

/// Watches the folder, if there is one.
pub(in crate::app) fn watch(viewer: &mut Viewer) {
    let Some(folder) = shader_folder() else {
        return;
    };
    let files = SHADERS.files().map(|(path, _)| folder.join(path));
    let waker = viewer.waker.clone();
    let changed = move || waker.send(Wake::ShadersChanged);
    viewer.watches.shaders = Some(Watch::new(files.collect(), SHORT_INTERVAL, changed));
}

/// Draws with what the files hold now, or says what is wrong with them and goes on with what was there.
pub(in crate::app) fn reload(viewer: &mut Viewer) {
    match viewer.graphics.gpu.reload_shaders() {
        Ok(changed) => {
            log::info!("{changed} shaders have changed");
            let shown = viewer.state.ui.error.as_ref();
            if shown.is_some_and(|error| [BROKEN, UNDRAWN].contains(&error.headline.as_str())) {
                viewer.state.ui.error = None;
            }
            viewer.graphics.renderer.restart_paths();
            // Side B is made anew.
            app::compare::task::forget(viewer);
            // A shader that was never good is in no picture yet, so none has changed.
            viewer.schedule.forget();
        }
        Err(error) => {
            log::error!("{error}");
            viewer.state.fail(BROKEN, error.to_string());
        }
    }
}
