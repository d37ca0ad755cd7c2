//! Deflate decompression of gzip and zlib into buffers of known size.

use crate::files::one_line;
use flate2::{Decompress, FlushDecompress, Status, read::MultiGzDecoder};
use std::io::Read;

/// True if the bytes are a gzip file.
pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Returns a reader of the bytes, which decompresses gzip lazily.
pub(super) fn reader<'a>(bytes: &'a [u8], gzip: bool) -> Box<dyn Read + 'a> {
    if gzip {
        Box::new(MultiGzDecoder::new(bytes))
    } else {
        Box::new(bytes)
    }
}

/// Decompressor of successive zlib streams that reuses its state.
#[derive(Debug)]
pub(super) struct Inflater(Decompress);

impl Default for Inflater {
    fn default() -> Self {
        Self(Decompress::new(true))
    }
}

impl Inflater {
    /// Decompresses `input` into `output`, whose size must match exactly.
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
