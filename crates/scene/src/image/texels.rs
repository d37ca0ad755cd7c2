//! Decoded images and their texel formats.

/// A decoded image, rows from the top.
#[derive(Debug, Clone)]
pub struct Image {
    /// Name or file name, for messages.
    pub name: String,
    /// Number of texels in a row.
    pub width: u32,
    /// Number of rows.
    pub height: u32,
    /// Format of the texels.
    pub format: TexelFormat,
    /// Mip levels, finest first: either only the first, or all levels down to a single texel. Each has
    /// [`TexelFormat::level_bytes`] bytes.
    pub levels: Vec<Vec<u8>>,
}

/// Texel format of an image. Values are encoded as in the file. The material determines if they are sRGB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelFormat {
    /// Red, green, blue and alpha, 8 bits each.
    Rgba8,
    /// Red, green, blue and alpha, 16 bits each, in native byte order.
    Rgba16,
    /// Blocks of 4 × 4 texels in 8 bytes: colour and 1-bit alpha.
    Bc1,
    /// Blocks of 4 × 4 texels in 16 bytes: colour and 4-bit alpha.
    Bc2,
    /// Blocks of 4 × 4 texels in 16 bytes: colour, and alpha interpolated between two endpoints.
    Bc3,
    /// Blocks of 4 × 4 texels in 16 bytes: colour and alpha.
    Bc7,
}

impl TexelFormat {
    /// Returns the number of texels along the edge of a block, or 1 for uncompressed formats.
    pub fn block_side(self) -> u32 {
        match self {
            Self::Rgba8 | Self::Rgba16 => 1,
            _ => 4,
        }
    }

    /// Returns the number of bytes in a block, or in a texel of an uncompressed format.
    pub fn block_bytes(self) -> u32 {
        match self {
            Self::Rgba8 => 4,
            Self::Rgba16 | Self::Bc1 => 8,
            _ => 16,
        }
    }

    /// Returns the number of bytes of a mip level.
    pub fn level_bytes(self, [width, height]: [u32; 2]) -> u64 {
        let blocks = |side: u32| u64::from(side.div_ceil(self.block_side()));
        blocks(width) * blocks(height) * u64::from(self.block_bytes())
    }
}

/// Returns the number of mip levels of an image, down to a single texel.
pub(super) fn full_levels([width, height]: [u32; 2]) -> usize {
    (u32::BITS - width.max(height).leading_zeros()) as usize
}

/// Returns the size of a mip level in texels.
pub(super) fn level_size([width, height]: [u32; 2], level: usize) -> [u32; 2] {
    [width, height].map(|side| side.checked_shr(level as u32).unwrap_or(0).max(1))
}

impl Image {
    /// Creates an image of one mip level with eight bits per channel, `width * height * 4` bytes in all.
    pub fn from_rgba8(name: impl Into<String>, width: u32, height: u32, rgba8: Vec<u8>) -> Self {
        Self {
            name: name.into(),
            width,
            height,
            format: TexelFormat::Rgba8,
            levels: vec![rgba8],
        }
    }

    /// Returns width and height in texels.
    pub(super) fn size(&self) -> [u32; 2] {
        [self.width, self.height]
    }
}

/// Reconstructs blue from red and green, for normal maps with two channels.
pub(super) fn fill_blue(rgba8: &mut [u8]) {
    for texel in rgba8.chunks_exact_mut(4) {
        let [x, y] = [texel[0], texel[1]].map(|c| f32::from(c) / 127.5 - 1.0);
        let z = (1.0 - x * x - y * y).max(0.0).sqrt();
        texel[2] = ((z + 1.0) * 127.5).round() as u8;
    }
}
