//! Blue-noise mask. Each value occurs once, and similar values are far apart.

use canopy_bvh::gpu::library::wgsl_constants;
use std::sync::OnceLock;

wgsl_constants! {
    /// Side of the mask in pixels. The mask is tiled.
    pub const BLUE_NOISE_SIDE: u32 = 64;
    /// Size of the mask in rows of 16 bytes.
    pub const BLUE_NOISE_ROWS: u32 = BLUE_NOISE_SIDE * BLUE_NOISE_SIDE / 8;
}

const CELLS: usize = (BLUE_NOISE_SIDE * BLUE_NOISE_SIDE) as usize;

/// Mask made by the void-and-cluster method (Ulichney 1993, "The void-and-cluster method for dither array
/// generation"), as little-endian `u16`. It is stored because making it takes a tenth of the start-up time
/// for a small picture. A test reproduces it.
const MASK: &[u8; 2 * CELLS] = include_bytes!("../../../../assets/blue_noise.u16");

/// Returns the mask, row by row. It holds every number from 0 to [`BLUE_NOISE_SIDE`]² − 1 once.
pub fn mask() -> &'static [u16] {
    static NUMBERS: OnceLock<Vec<u16>> = OnceLock::new();
    let numbers = || MASK.as_chunks().0.iter().map(|pair| u16::from_le_bytes(*pair));
    NUMBERS.get_or_init(|| numbers().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = BLUE_NOISE_SIDE as usize;
    /// Standard deviation in pixels of the Gaussian energy around a set pixel (Ulichney 1993, section 3.2).
    const SIGMA: f64 = 1.9;

    /// Pixels that have a number so far, and the energy around them.
    struct Pattern {
        kernel: Vec<f64>,
        energy: Vec<f64>,
        is_set: Vec<bool>,
    }

    impl Pattern {
        fn new() -> Self {
            let near = |at: usize| at.min(SIDE - at) as f64;
            let falloff = |i: usize| {
                let square = near(i % SIDE).powi(2) + near(i / SIDE).powi(2);
                (-0.5 * square / (SIGMA * SIGMA)).exp()
            };
            Self {
                kernel: (0..CELLS).map(falloff).collect(),
                energy: vec![0.0; CELLS],
                is_set: vec![false; CELLS],
            }
        }

        fn flip(&mut self, cell: usize) {
            let sign = if self.is_set[cell] { -1.0 } else { 1.0 };
            self.is_set[cell] = !self.is_set[cell];
            let (x, y) = (SIDE - cell % SIDE, SIDE - cell / SIDE);
            for (i, energy) in self.energy.iter_mut().enumerate() {
                let offset = (i / SIDE + y) % SIDE * SIDE + (i % SIDE + x) % SIDE;
                *energy += sign * self.kernel[offset];
            }
        }

        /// Returns the set pixel with the most energy (tightest cluster), or the unset pixel with the least
        /// energy (largest void).
        fn extreme(&self, is_set: bool) -> usize {
            let cells = (0..CELLS).filter(|cell| self.is_set[*cell] == is_set);
            let by_energy = |a: &usize, b: &usize| self.energy[*a].total_cmp(&self.energy[*b]);
            let found = if is_set {
                cells.max_by(by_energy)
            } else {
                cells.min_by(by_energy)
            };
            found.unwrap_or(0)
        }
    }

    fn make() -> Vec<u16> {
        let mut pattern = Pattern::new();
        // Initial pattern: a tenth of the pixels at random. Then pixels move from the tightest cluster to the
        // largest void until nothing changes.
        let mut state = 1_u32;
        let mut first = 0;
        while first < CELLS / 10 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let cell = (state >> 16) as usize % CELLS;
            if !pattern.is_set[cell] {
                pattern.flip(cell);
                first += 1;
            }
        }
        for _ in 0..CELLS {
            let cluster = pattern.extreme(true);
            pattern.flip(cluster);
            let void = pattern.extreme(false);
            pattern.flip(void);
            if void == cluster {
                break;
            }
        }
        let mut mask = vec![0; CELLS];
        let prototype = (pattern.energy.clone(), pattern.is_set.clone());
        for rank in (0..first).rev() {
            let cluster = pattern.extreme(true);
            pattern.flip(cluster);
            mask[cluster] = rank as u16;
        }
        // The energies of set and unset pixels add up to a constant. So the largest void is also the tightest
        // cluster of the unset pixels.
        (pattern.energy, pattern.is_set) = prototype;
        for rank in first..CELLS {
            let void = pattern.extreme(false);
            pattern.flip(void);
            mask[void] = rank as u16;
        }
        mask
    }

    /// Writes the mask again if `UPDATE_BLUE_NOISE` is set.
    #[test]
    fn the_mask_matches_the_void_and_cluster_algorithm() {
        let made = make();
        if std::env::var_os("UPDATE_BLUE_NOISE").is_some() {
            let bytes: Vec<u8> = made.iter().flat_map(|n| n.to_le_bytes()).collect();
            std::fs::write("assets/blue_noise.u16", bytes).unwrap();
        }
        assert!(made == mask());
    }

    #[test]
    fn the_mask_holds_every_rank_once() {
        let mut numbers = mask().to_vec();
        numbers.sort_unstable();
        assert!(numbers.iter().enumerate().all(|(i, n)| i == usize::from(*n)));
    }

    /// Returns the power of the mask at a frequency, relative to white noise.
    fn power([u, v]: [usize; 2]) -> f64 {
        let (mut re, mut im) = (0.0, 0.0);
        for (i, number) in mask().iter().enumerate() {
            let value = (f64::from(*number) + 0.5) / CELLS as f64 - 0.5;
            let turns = (i % SIDE * u + i / SIDE * v) as f64 / SIDE as f64;
            let (sin, cos) = (std::f64::consts::TAU * turns).sin_cos();
            re += value * cos;
            im += value * sin;
        }
        12.0 * (re * re + im * im) / CELLS as f64
    }

    #[test]
    fn the_mask_has_little_power_at_low_frequencies() {
        let mut low = Vec::new();
        let mut high = Vec::new();
        for u in 0..SIDE / 2 {
            for v in 0..SIDE / 2 {
                match ((u * u + v * v) as f64).sqrt() {
                    0.0 => {}
                    radius if radius < 10.0 => low.push(power([u, v])),
                    radius if radius > 25.0 => high.push(power([u, v])),
                    _ => {}
                }
            }
        }
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
        assert!(mean(&low) < 0.05, "{}", mean(&low));
        assert!(mean(&high) > 1.0, "{}", mean(&high));
    }
}
