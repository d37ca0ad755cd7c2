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

/// Starts to watch the shader files, if they are read from a folder.
pub(in crate::app) fn watch(viewer: &mut Viewer) {
    let Some(folder) = shader_folder() else {
        return;
    };
    let files = SHADERS.files().map(|(path, _)| folder.join(path));
    let waker = viewer.waker.clone();
    let changed = move || waker.send(Wake::ShadersChanged);
    viewer.watches.shaders = Some(Watch::new(files.collect(), SHORT_INTERVAL, changed));
}

/// Reloads the shaders and redraws the pictures. If a shader does not compile, shows the error and keeps all
/// previous shaders.
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
            // Pictures are redrawn even if no compiled shader has changed: one that has failed since the
            // start is not counted, and its pictures are still missing.
            viewer.schedule.reset();
        }
        Err(error) => {
            log::error!("{error}");
            viewer.state.fail(BROKEN, error.to_string());
        }
    }
}
