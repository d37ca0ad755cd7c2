//! What commands print.

use crate::{Error, Result};
use std::io::Write;

/// Writes to standard output. A reader that goes away, as `head` does, is no failure.
pub(super) fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::io("standard output", e))
        }
        _ => Ok(()),
    }
}

/// JSON as text that ends in a newline.
pub(super) fn json_text(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}
