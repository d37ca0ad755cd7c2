//! What commands print.

use crate::{Error, Result};
use std::io::Write;

/// Writes to standard output. A reader that goes away, as `head` does, is no failure.
pub(super) fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

/// As [`print`], for what is no text.
pub(super) fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::io("standard output", e)),
        _ => Ok(()),
    }
}

/// Writes JSON to standard output without holding its text. A reader that goes away is no failure.
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

/// JSON as text that ends in a newline.
pub(super) fn json_text(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
