//! The viewer's profile: timings that come back, and files that it is written to.

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

impl Viewer {
    /// What a frame that was recorded, and is not submitted yet, is in the profile.
    pub(in crate::app) fn profiled(&self, frame: &InFlight) -> Recorded {
        Recorded {
            timing: self.graphics.renderer.submitted_frames() + 1,
            time_secs: frame.picture.time,
            is_parted: frame.is_parted,
        }
    }

    /// Adds the timings that have come back to the history.
    pub(in crate::app) fn take_timings(&mut self) {
        for timed in self.graphics.renderer.take_timed() {
            self.state.profile.history.timed(timed);
        }
    }

    /// Waits until the frames that were submitted have been timed.
    pub(in crate::app) fn wait_for_timings(&mut self) {
        if self.graphics.gpu.wait().is_ok() {
            self.graphics.renderer.collect(&self.graphics.gpu);
            self.take_timings();
        }
    }

    /// Saves the profile of this moment where the person says.
    pub(in crate::app) fn save_profile(&mut self, extension: &str) {
        let frames = self
            .state
            .profile
            .profiler
            .frames(&self.state.profile.history);
        let text = profile::text(extension, frames, &self.graphics.gpu.info.name);
        self.ask_to_save(Unsaved {
            what: "the profile",
            bytes: text.into_bytes(),
            note: String::new(),
            unasked: pictures::new_path(&self.picture_name(), extension),
        });
    }

    /// Writes the profile that was asked for when the viewer ends.
    pub(in crate::app) fn write_profile(&mut self) -> Result<()> {
        let Some(path) = self.options.profile.clone() else {
            return Ok(());
        };
        self.wait_for_timings();
        let adapter = &self.graphics.gpu.info.name;
        let frames = self.state.profile.history.frames();
        profile::write(&path, frames, adapter)?;
        let count = counted(frames.len() as u64, "frame");
        // Nobody may read it any more.
        writeln!(std::io::stderr(), "wrote {} ({count})", path.display()).ok();
        Ok(())
    }
}
