//! Profiles: what every frame took on the GPU and on the CPU, when it was shown, and the memory then.
//!
//! [`history`] collects frames, [`table`] sorts their times by pass, [`chart`] stacks them. [`csv`],
//! [`trace_events`] and [`html`] are the files that a profile is written to, [`memory`] tells memory by kind.

pub mod chart;
pub mod colors;
pub mod csv;
pub mod history;
pub mod html;
pub mod memory;
pub mod table;
pub mod text;
pub mod trace_events;

use crate::{Result, output};
use history::Frame;
use std::{collections::VecDeque, path::Path};

/// Extensions of the files that a profile can be written to.
pub const EXTENSIONS: [&str; 2] = ["json", "csv"];

/// Fails for a name that no profile can be written to.
///
/// # Errors
///
/// [`crate::Error::Usage`] for another extension, [`crate::Error::Io`] where nothing can be written.
pub fn check(path: &Path) -> Result<()> {
    output::extension(path, &EXTENSIONS)?;
    output::check_writable(path)
}

/// Writes `frames` as the extension of `path` says: a trace of events (.json) or a table (.csv).
///
/// # Errors
///
/// [`crate::Error::Usage`] for another extension, [`crate::Error::Io`] where it cannot be written.
pub fn write(path: &Path, frames: &VecDeque<Frame>, adapter: &str) -> Result<()> {
    let text = text(output::extension(path, &EXTENSIONS)?, frames, adapter);
    output::write(path, text.as_bytes())
}

/// The text of a profile: a table for `csv`, else a trace of events.
pub fn text(extension: &str, frames: &VecDeque<Frame>, adapter: &str) -> String {
    match extension {
        "csv" => csv::text(frames),
        _ => trace_events::text(frames, adapter),
    }
}
