//! Decoding requests: the formats that the renderer supports, and the uses of the image in materials.

use super::{texels::full_levels, uses::Uses};

/// Texture formats that a renderer supports. The default is eight bits per channel at any size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureSupport {
    /// True if the block formats of [`super::TexelFormat`] are supported, for images whose width and height
    /// are multiples of four.
    pub blocks: bool,
    /// True if sixteen bits per channel are supported.
    pub sixteen_bits: bool,
    /// Maximum number of texels along a side.
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

/// Parameters of decoding an image.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    pub(super) uses: Uses,
    /// Formats that it may be decoded to.
    pub(super) supported: TextureSupport,
    pub(super) max_pixels: u64,
    /// Maximum number of bytes of its finest mip level.
    pub(super) max_bytes: u64,
}

impl Request {
    /// True if sixteen bits per channel are kept.
    pub(super) fn sixteen_bits(&self) -> bool {
        self.supported.sixteen_bits && self.uses.numbers
    }

    /// True if an image of this size with this many mip levels is kept in compressed blocks.
    pub(super) fn blocks(&self, size: [u32; 2], levels: usize) -> bool {
        self.supported.blocks && size.iter().all(|side| side.is_multiple_of(4)) && levels == full_levels(size)
    }
}
