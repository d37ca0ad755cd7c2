//! Standard output of commands.

use crate::{Error, Result};
use std::io::Write;

/// Writes text to standard output. A closed pipe, as with `head`, is not an error.
pub(super) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// Writes bytes to standard output. A closed pipe is not an error.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::io("standard output", e)),
        _ => Ok(()),
    }
}

/// Streams JSON to standard output without building its text in memory. A closed pipe is not an error.
pub(super) fn print_json(value: &impl serde::Serialize) -> Result<()> {
    let mut stdout = std::io::BufWriter::new(std::io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut stdout, value).map_err(std::io::Error::from);
    match written
        .and_then(|()| writeln!(stdout))
        .and_then(|()| stdout.flush())
    {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::io("standard output", e)),
        _ => Ok(()),
    }
}

/// Formats JSON with a final newline.
pub(super) fn json_text(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
