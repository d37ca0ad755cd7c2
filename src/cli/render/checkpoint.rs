//! `--checkpoint`: saves the sums of a picture's paths regularly, so that an interrupted run can resume.

use crate::{
    Error, Result,
    cli::offscreen::Offscreen,
    output::{
        self,
        path_part::{self, PartInfo, PathPart},
    },
    scene::{self, picture::checked_openexr},
};
use std::{
    io::ErrorKind,
    path::PathBuf,
    time::{Duration, Instant},
};

/// Checkpoint file, and the interval between saves.
#[derive(Debug)]
pub(super) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    written: Instant,
}

impl Checkpoint {
    /// Creates a checkpoint at `path` that is written every `every_secs` seconds.
    pub(super) fn new(path: PathBuf, every_secs: f64) -> Self {
        Self {
            path,
            every: Duration::from_secs_f64(every_secs),
            written: Instant::now(),
        }
    }

    /// Restores the sums of the part `about` from the file into `offscreen`. Returns the number of samples
    /// per pixel that it holds. This is 0 if there is no file, or if it belongs to another frame of the
    /// sequence.
    ///
    /// # Errors
    ///
    /// [`Error::Scene`] if the file is invalid or belongs to another picture.
    pub(super) fn restore(&mut self, offscreen: &mut Offscreen, about: &PartInfo) -> Result<u32> {
        self.written = Instant::now();
        let bytes = match checked_openexr(&self.path, &offscreen.config.load) {
            Err(scene::Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Ok(0);
            }
            bytes => bytes?,
        };
        let kept = path_part::read(&self.path, &bytes)?;
        if kept.about.frame != about.frame {
            return Ok(0);
        }
        let fits = (kept.about.part, kept.about.samples, kept.about.total)
            == (about.part, about.samples, about.total);
        let other_samples = (!fits).then(|| "of other samples".to_owned());
        if let Some(what) = about.of.difference(&kept.about.of).or(other_samples) {
            let what = format!("is {what}: delete it, or give --checkpoint another name");
            return Err(Error::scene(&self.path, what));
        }
        offscreen.restore_paths(&kept.sums, kept.about.held)?;
        Ok(kept.about.held)
    }

    /// Saves the current sums if the interval has passed, or immediately if `now`.
    pub(super) fn keep(&mut self, offscreen: &Offscreen, about: &PartInfo, now: bool) -> Result<()> {
        if !now && self.written.elapsed() < self.every {
            return Ok(());
        }
        let bytes = path_part::exr(&PathPart {
            about: about.clone(),
            sums: offscreen.path_sums()?,
            made: None,
        })
        .map_err(|error| error.with_output(self.path.display()))?;
        output::write(&self.path, &bytes)?;
        // The interval starts after the write, so that a slow disk does not stall the adapter.
        self.written = Instant::now();
        Ok(())
    }

    /// Deletes the file once the picture is written.
    pub(super) fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(&self.path, e)),
            _ => Ok(()),
        }
    }
}
