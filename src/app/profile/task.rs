//! Profile of the viewer: takes timings from the GPU, and writes profile files.

use crate::app;
use crate::{
    Result,
    app::{
        files::{pictures, unsaved::Unsaved},
        profile::frames::Recorded,
        schedule::in_flight::InFlight,
        state::counted,
        viewer::Viewer,
    },
    profile,
};
use std::io::Write as _;

/// Returns the profile entry of a frame that is recorded but not submitted yet.
pub(in crate::app) fn profiled(viewer: &Viewer, frame: &InFlight) -> Recorded {
    Recorded {
        timing: viewer.graphics.renderer.submitted_frames() + 1,
        time_secs: frame.picture.time,
        is_split: frame.is_split,
    }
}

/// Adds available timings to the history.
pub(in crate::app) fn take_timings(viewer: &mut Viewer) {
    for timed in viewer.graphics.renderer.take_timed() {
        viewer.state.profile.history.timed(timed);
    }
}

/// Waits for the timings of all submitted frames.
pub(in crate::app) fn wait_for_timings(viewer: &mut Viewer) {
    if viewer.graphics.gpu.wait().is_ok() {
        viewer.graphics.renderer.collect(&viewer.graphics.gpu);
        take_timings(viewer);
    }
}

/// Saves the current profile at a path that the user chooses.
pub(in crate::app) fn save(viewer: &mut Viewer, extension: &str) {
    let frames = viewer
        .state
        .profile
        .profiler
        .frames(&viewer.state.profile.history);
    let text = profile::text(extension, frames, &viewer.graphics.gpu.info.name);
    app::files::save::ask_to_save(
        viewer,
        Unsaved {
            what: "the profile",
            bytes: text.into_bytes(),
            note: String::new(),
            fallback_path: pictures::new_path(&viewer.picture_name(), extension),
        },
    );
}

/// Writes the requested profile when the viewer ends.
pub(in crate::app) fn write(viewer: &mut Viewer) -> Result<()> {
    let Some(path) = viewer.options.profile.clone() else {
        return Ok(());
    };
    wait_for_timings(viewer);
    let adapter = &viewer.graphics.gpu.info.name;
    let frames = viewer.state.profile.history.frames();
    profile::write(&path, frames, adapter)?;
    let count = counted(frames.len() as u64, "frame");
    // A closed standard error stream is not a failure.
    writeln!(std::io::stderr(), "wrote {} ({count})", path.display()).ok();
    Ok(())
}
