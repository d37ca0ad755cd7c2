//! Deflate, as gzip and as zlib have it, into room of a known size.

use crate::files::one_line;
use flate2::{Decompress, FlushDecompress, Status, read::MultiGzDecoder};
use std::io::Read;

/// Whether these are the bytes of a gzip file.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// The bytes, decompressed where they are gzip; nothing is decompressed before it is read.
pub(super) fn reader<'a>(bytes: &'a [u8], gzip: bool) -> Box<dyn Read + 'a> {
    if gzip {
        Box::new(MultiGzDecoder::new(bytes))
    } else {
        Box::new(bytes)
    }
}

/// Decompresses zlib streams one after the other, with one state for all.
#[derive(Debug)]
pub(super) struct Inflater(Decompress);

impl Default for Inflater {
    fn default() -> Self {
        Self(Decompress::new(true))
    }
}

impl Inflater {
    /// Fills `output` with what `input` decompresses to, which must be exactly as much.
    pub(super) fn fill(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), String> {
        self.0.reset(true);
        let status = self
            .0
            .decompress(input, output, FlushDecompress::Finish)
            .map_err(|e| format!("has broken zlib data: {}", one_line(&e)))?;
        if status == Status::StreamEnd && self.0.total_out() == output.len() as u64 {
            return Ok(());
        }
        Err(format!(
            "has broken zlib data: it decompresses to other than {} bytes",
            output.len()
        ))
    }
}
