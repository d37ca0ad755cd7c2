//! Profiles: GPU and CPU times, present times and memory of every frame.
//!
//! [`history`] collects frames, [`table`] groups their times by pass, and [`chart`] stacks them. [`csv`],
//! [`trace_events`] and [`html`] are the file formats. [`memory`] reports memory by kind.

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

/// Supported file extensions of profiles.
pub const EXTENSIONS: [&str; 2] = ["json", "csv"];

/// Fails if a profile cannot be written to `path`.
///
/// # Errors
///
/// [`crate::Error::Usage`] for another extension, [`crate::Error::Io`] if the file cannot be written.
pub fn check(path: &Path) -> Result<()> {
    output::extension(path, &EXTENSIONS)?;
    output::check_writable(path)
}

/// Writes `frames` in the format that the extension of `path` selects: trace events (.json) or a table
/// (.csv).
///
/// # Errors
///
/// [`crate::Error::Usage`] for another extension, [`crate::Error::Io`] if the file cannot be written.
pub fn write(path: &Path, frames: &VecDeque<Frame>, adapter: &str) -> Result<()> {
    let text = text(output::extension(path, &EXTENSIONS)?, frames, adapter);
    output::write(path, text.as_bytes())
}

/// Formats a profile as a table for `csv`, otherwise as trace events.
pub fn text(extension: &str, frames: &VecDeque<Frame>, adapter: &str) -> String {
    match extension {
        "csv" => csv::text(frames),
        _ => trace_events::text(frames, adapter),
    }
}
