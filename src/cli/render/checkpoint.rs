//! `--checkpoint`: the sums of a picture's paths, kept now and then, so that a run which was ended goes on.

use crate::{
    Error, Result,
    cli::offscreen::Offscreen,
    output::{
        self,
        path_part::{self, About, PathPart},
    },
    scene::{self, picture::checked_openexr},
};
use std::{
    io::ErrorKind,
    path::PathBuf,
    time::{Duration, Instant},
};

/// Where a picture's paths are kept, and how often.
#[derive(Debug)]
pub(super) struct Checkpoint {
    path: PathBuf,
    every: Duration,
    written: Instant,
}

impl Checkpoint {
    /// In this file, at this distance in seconds.
    pub(super) fn new(path: PathBuf, every_secs: f64) -> Self {
        Self {
            path,
            every: Duration::from_secs_f64(every_secs),
            written: Instant::now(),
        }
    }

    /// Gives the frames of `offscreen` what the file has of the part that `about` tells of. Returns how many
    /// samples of each pixel that is: none where there is no file, or one of another frame of the sequence.
    ///
    /// # Errors
    ///
    /// [`Error::Scene`] for the file of another picture, and one that is broken.
    pub(super) fn restore(&mut self, offscreen: &mut Offscreen, about: &About) -> Result<u32> {
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

    /// Writes what there is where the time has come, or `now`.
    pub(super) fn keep(&mut self, offscreen: &Offscreen, about: &About, now: bool) -> Result<()> {
        if !now && self.written.elapsed() < self.every {
            return Ok(());
        }
        let bytes = path_part::exr(&PathPart {
            about: about.clone(),
            sums: offscreen.path_sums()?,
            made: None,
        })?;
        output::write(&self.path, &bytes)?;
        // From its end on, so that a slow disk does not keep the adapter from its work.
        self.written = Instant::now();
        Ok(())
    }

    /// The picture is written: nothing is left to go on with.
    pub(super) fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(Error::io(&self.path, e)),
            _ => Ok(()),
        }
    }
}
