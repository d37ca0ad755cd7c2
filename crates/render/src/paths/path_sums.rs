//! Exact sums of path samples in fixed point. Addition is associative, so samples may be added in any order
//! and in any parts, on any number of machines, with bit-identical results.

use canopy_bvh::gpu::library::wgsl_constants;

wgsl_constants! {
    /// Number of words of a sum. The lowest word comes first.
    const PATH_SUM_WORDS: u32 = 4;
    /// Number of fractional bits of a sum.
    pub const PATH_FRACTION: u32 = 60;
    /// Biased f32 exponent of the largest samples, which are below 2³⁷. A sum has room for 2³¹ samples.
    pub const PATH_MAX_EXPONENT: u32 = 127 + 36;
    /// Unit of a sum, 2⁻⁶⁰.
    const PATH_SUM_UNIT: f64 = 1.0 / (1_u64 << 60) as f64;
}

/// Sums of the samples of each pixel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSums {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Words of each pixel, row by row and the lowest first. A word has red, green, blue and coverage.
    pub pixels: Vec<[[u32; 4]; PATH_SUM_WORDS as usize]>,
}

impl PathSums {
    /// Size of a pixel in bytes.
    pub const PIXEL_BYTES: u64 = 16 * PATH_SUM_WORDS as u64;

    /// Creates sums without samples, all zero, for `size` pixels.
    pub fn new(size: [u32; 2]) -> Self {
        let pixels = size[0] as usize * size[1] as usize;
        Self {
            size,
            pixels: vec![[[0; 4]; PATH_SUM_WORDS as usize]; pixels],
        }
    }

    /// Adds the sums of other samples of the same picture.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.pixels.iter_mut().zip(&other.pixels) {
            for channel in 0..4 {
                let total = joined(sum, channel).wrapping_add(joined(more, channel));
                for (word, words) in sum.iter_mut().enumerate() {
                    words[channel] = (total >> (32 * word)) as u32;
                }
            }
        }
    }

    /// Returns the mean of the `count` samples in these sums, as red, green, blue and coverage of each pixel.
    pub fn mean(&self, count: u32) -> Vec<[f32; 4]> {
        let scale = (1_u64 << PATH_FRACTION) as f64;
        let count = f64::from(count.max(1));
        let mean = |sum, channel| (joined(sum, channel) as f64 / scale / count) as f32;
        let pixel = |sum| std::array::from_fn(|channel| mean(sum, channel));
        self.pixels.iter().map(pixel).collect()
    }
}

/// Returns the sum of a channel, in units of 2⁻⁶⁰.
fn joined(sum: &[[u32; 4]; PATH_SUM_WORDS as usize], channel: usize) -> u128 {
    let words = sum.iter().rev();
    words.fold(0, |joined, words| joined << 32 | u128::from(words[channel]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(value: u128) -> PathSums {
        let word = |at: u32| [(value >> (32 * at)) as u32; 4];
        PathSums {
            size: [1, 1],
            pixels: vec![[0, 1, 2, 3].map(word)],
        }
    }

    #[test]
    fn additions_carry_across_words() {
        for (a, b) in [(1, 1), (u32::MAX.into(), 1), (u64::MAX.into(), 1), (1 << 96, 5)] {
            let mut sum = of(a);
            sum.add(&of(b));
            assert_eq!(sum, of(a + b), "{a} + {b}");
        }
        let mut most = of(u128::MAX);
        most.add(&of(1));
        assert_eq!(most, of(0), "no panic");
    }

    #[test]
    fn the_mean_divides_the_fixed_point_sum() {
        assert_eq!(of(3 << 60).mean(4), [[0.75; 4]]);
        assert_eq!(PathSums::new([1, 1]).mean(0), [[0.0; 4]]);
    }
}
