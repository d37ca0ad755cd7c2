//! Thumbnails of images, computed in constant time.

use super::{blocks::rgba8, texels::Image};

/// Number of samples along each side that a thumbnail texel averages.
const SAMPLES: u32 = 4;

impl Image {
    /// Returns a thumbnail of at most `side` texels along each side: its size, and its texels with eight bits
    /// per channel, encoded as in the file. Each is the mean of a few samples around its position in the
    /// finest mip level.
    pub fn thumbnail(&self, side: u32) -> ([u32; 2], Vec<u8>) {
        let longest = self.width.max(self.height).max(1);
        let shrunk = |length: u32| {
            let scaled = u64::from(length) * u64::from(side) / u64::from(longest);
            (scaled as u32).clamp(1, side.max(1))
        };
        let size = match longest > side {
            true => self.size().map(shrunk),
            false => self.size().map(|length| length.max(1)),
        };
        let mut texels = Vec::with_capacity(size[0] as usize * size[1] as usize * 4);
        for y in 0..size[1] {
            for x in 0..size[0] {
                texels.extend(self.mean([x, y], size));
            }
        }
        (size, texels)
    }

    /// Averages the samples of thumbnail texel `at`.
    fn mean(&self, at: [u32; 2], size: [u32; 2]) -> [u8; 4] {
        let mut sum = [0_u32; 4];
        let place = |axis: usize, sample: u32| {
            let length = u64::from(self.size()[axis]);
            let along = u64::from(at[axis] * SAMPLES + sample);
            let wanted = along * length / u64::from(size[axis] * SAMPLES);
            wanted.min(length.saturating_sub(1)) as u32
        };
        for sample in 0..SAMPLES * SAMPLES {
            let texel = self.texel([place(0, sample % SAMPLES), place(1, sample / SAMPLES)]);
            for (sum, channel) in sum.iter_mut().zip(texel) {
                *sum += u32::from(channel);
            }
        }
        let count = SAMPLES * SAMPLES;
        sum.map(|sum| ((sum + count / 2) / count) as u8)
    }

    /// Returns a texel of the finest mip level; zeros if it is missing.
    fn texel(&self, [x, y]: [u32; 2]) -> [u8; 4] {
        let side = self.format.block_side();
        let bytes = self.format.block_bytes() as usize;
        let block = (y / side) as usize * self.width.div_ceil(side) as usize + (x / side) as usize;
        let level = self.levels.first().map_or(&[][..], Vec::as_slice);
        let Some(block) = level.get(block * bytes..(block + 1) * bytes) else {
            return [0; 4];
        };
        let one = Self {
            name: String::new(),
            width: side,
            height: side,
            format: self.format,
            levels: vec![block.to_vec()],
        };
        let texels = match side {
            1 => one.rgba8(),
            _ => rgba8(self.format, [side; 2], block).into(),
        };
        let first = 4 * ((y % side) * side + x % side) as usize;
        std::array::from_fn(|channel| texels.get(first + channel).copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TexelFormat;

    #[test]
    fn thumbnails_are_means_and_keep_the_shape() {
        // Two halves, wider than tall.
        let texels = (0..64 * 32).flat_map(|i| if i % 64 < 32 { [10, 20, 30, 255] } else { [90; 4] });
        let image = Image::from_rgba8("a", 64, 32, texels.collect());
        let (size, small) = image.thumbnail(4);
        assert_eq!(size, [4, 2]);
        assert_eq!(
            small[..16],
            [[10, 20, 30, 255], [10, 20, 30, 255], [90; 4], [90; 4]].concat()
        );
        let (size, same) = image.thumbnail(64);
        assert_eq!((size, same), ([64, 32], image.levels[0].clone()));
        let (size, mean) = image.thumbnail(1);
        assert_eq!((size, &mean[..]), ([1, 1], &[50, 55, 60, 173][..]));
    }

    #[test]
    fn sixteen_bits_and_blocks_are_shown_as_their_texels() {
        let deep = Image {
            format: TexelFormat::Rgba16,
            levels: vec![[65535_u16, 0, 257 * 7, 65535].map(u16::to_ne_bytes).concat()],
            ..Image::from_rgba8("deep", 1, 1, vec![])
        };
        assert_eq!(deep.thumbnail(8), ([1, 1], vec![255, 0, 7, 255]));
        // A BC1 block whose two endpoints are red.
        let block = [0x00, 0xf8, 0x00, 0xf8, 0, 0, 0, 0];
        let blocks = Image {
            format: TexelFormat::Bc1,
            levels: vec![block.repeat(16)],
            ..Image::from_rgba8("blocks", 16, 16, vec![])
        };
        let (size, texels) = blocks.thumbnail(2);
        assert_eq!(size, [2, 2]);
        assert_eq!(texels, [255, 0, 0, 255].repeat(4));
        // Any contents of the levels are tolerated.
        let empty = Image {
            levels: vec![],
            ..blocks
        };
        assert_eq!(empty.thumbnail(2).1, [0; 16]);
    }
}
