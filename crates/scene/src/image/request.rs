//! What is wanted of an image file: what the renderer supports, and what materials use the image for.

use super::{texels::full_levels, uses::Uses};

/// The texture formats that a renderer supports; by default, a byte a channel at any size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureSupport {
    /// The blocks of [`super::TexelFormat`], for images whose width and height are multiples of four.
    pub blocks: bool,
    /// Sixteen bits a channel.
    pub sixteen_bits: bool,
    /// Most texels along a side.
    pub max_side: u32,
}

impl Default for TextureSupport {
    fn default() -> Self {
        Self {
            blocks: false,
            sixteen_bits: false,
            max_side: u32::MAX,
        }
    }
}

/// How an image is decoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) uses: Uses,
    /// The formats that it may be decoded to.
    pub(super) supported: TextureSupport,
    pub(super) max_pixels: u64,
    /// Most bytes of its finest level.
    pub(super) max_bytes: u64,
}

impl Request {
    /// Whether sixteen bits a channel are kept.
    pub(super) fn sixteen_bits(&self) -> bool {
        self.supported.sixteen_bits && self.uses.numbers
    }

    /// Whether an image of this size with this many levels is kept in blocks.
    pub(super) fn blocks(&self, size: [u32; 2], levels: usize) -> bool {
        self.supported.blocks && size.iter().all(|side| side.is_multiple_of(4)) && levels == full_levels(size)
    }
}
