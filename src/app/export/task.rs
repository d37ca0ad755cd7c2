//! Runs an export. Another process draws it, so that the window and its GPU queue never wait for it.

use crate::{
    Result,
    app::{
        edits::files,
        export::process::Exporting,
        feature::Feature,
        files::{pictures, recent},
        viewer::Viewer,
    },
    output,
};
use std::{path::PathBuf, time::Duration};

/// Time after which a cancelled process that has not ended by itself is killed.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Headline of export errors.
const FAILED: &str = "The export failed";

/// Feature that runs exports.
pub(in crate::app) struct ExportFeature;

impl Feature for ExportFeature {
    fn follow(&self, viewer: &mut Viewer) -> Result<()> {
        poll(viewer);
        Ok(())
    }
}

/// Starts an export, or cancels the running one.
pub(in crate::app) fn toggle(viewer: &mut Viewer) {
    if let Some(exporting) = &mut viewer.exporting {
        exporting.cancel();
        return viewer.state.notify("the export ends after this picture");
    }
    if let Some(why) = viewer.state.no_export() {
        return viewer.state.notify(why);
    }
    let name = viewer.picture_name();
    let output = viewer
        .state
        .exported_file(|format| pictures::new_path(&name, format));
    match start(viewer, output) {
        Ok(exporting) => {
            viewer.exporting = Some(exporting);
            viewer.state.notify("exporting; you can keep working");
        }
        Err(error) => viewer.state.fail(FAILED, error.to_string()),
    }
}

fn start(viewer: &Viewer, output: PathBuf) -> Result<Exporting> {
    // The folder must belong to the user. In a world-writable folder another user could have placed a link
    // under the name of the file.
    let folder = recent::file().and_then(|file| Some(file.parent()?.to_owned()));
    let folder = folder.unwrap_or_else(std::env::temp_dir);
    let file = |what: &str| folder.join(format!("{what} {}.json", std::process::id()));
    let [path, edits] = ["camera path", "edits"].map(file);
    if let Some(keys) = viewer.state.motion.path.path(viewer.state.config.camera.fov) {
        output::write(&path, keys.text().as_bytes())?;
    }
    let saved = viewer.state.saved_edits();
    files::write(&edits, &saved)?;
    let arguments = viewer.state.export_arguments(&output, [&path, &edits]);
    let waker = viewer.waker.clone();
    let wake = move || waker.redraw()();
    let frames = viewer.state.exported_frames().into();
    Exporting::start(&arguments, frames, (output, vec![path, edits]), wake)
}

/// Updates the progress of the running export, and shows its outcome once it has ended.
pub(in crate::app) fn poll(viewer: &mut Viewer) {
    let Some(exporting) = &mut viewer.exporting else {
        return;
    };
    let [done, total] = exporting.progress();
    viewer.state.files.export.progress = Some([done, total, exporting.frames]);
    if exporting.cancelled.is_some_and(|since| since.elapsed() > TIMEOUT) {
        exporting.child.kill().ok();
    }
    let status = match exporting.child.try_wait() {
        Ok(None) => return,
        Ok(Some(status)) => Ok(status),
        Err(error) => Err(error.to_string()),
    };
    let Some(mut exporting) = viewer.exporting.take() else {
        return;
    };
    viewer.state.files.export.progress = None;
    let told = exporting.messages();
    let said = told.lines().rev().find(|line| line.starts_with("error: "));
    match status {
        _ if exporting.cancelled.is_some() => viewer.state.notify("export cancelled"),
        Ok(status) if status.success() => {
            let name = pictures::shown_path(&exporting.output);
            viewer.state.notify(format!("exported {name}"));
        }
        Ok(status) => {
            let why = said.map_or_else(|| status.to_string(), |line| line[7..].to_owned());
            viewer.state.fail(FAILED, why);
        }
        Err(why) => viewer.state.fail(FAILED, why),
    }
}
