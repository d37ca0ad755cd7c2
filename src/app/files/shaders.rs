//! Hot reload of shaders from a folder.

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

/// Headline of the error card for a broken shader.
const BROKEN: &str = "A shader does not compile";

/// Watches the shader folder, if there is one.
pub(in crate::app) fn watch(viewer: &mut Viewer) {
    let Some(folder) = shader_folder() else {
        return;
    };
    let files = SHADERS.files().map(|(path, _)| folder.join(path));
    let waker = viewer.waker.clone();
    let changed = move || waker.send(Wake::ShadersChanged);
    viewer.watches.shaders = Some(Watch::new(files.collect(), SHORT_INTERVAL, changed));
}

/// Reloads the shaders. If one of them is broken, shows the error and keeps the previous ones.
pub(in crate::app) fn reload(viewer: &mut Viewer) {
    match viewer.graphics.gpu.reload_shaders() {
        Ok(changed) => {
            log::info!("reloaded {changed} shaders");
            let shown = viewer.state.ui.error.as_ref();
            if shown.is_some_and(|error| [BROKEN, UNDRAWN].contains(&error.headline.as_str())) {
                viewer.state.ui.error = None;
            }
            viewer.graphics.renderer.restart_paths();
            // Side B is rebuilt.
            app::compare::task::reset(viewer);
            // A shader that has never compiled is in no picture, so the pictures must be drawn again in any
            // case.
            viewer.schedule.reset();
        }
        Err(error) => {
            log::error!("{error}");
            viewer.state.fail(BROKEN, error.to_string());
        }
    }
}
