//! Seeded random numbers and noise, the same on every run.

use glam::{Vec2, Vec3};

/// Small random number generator (xorshift with a final multiplication).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a uniform number in 0..1.
    pub(crate) fn unit(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Returns a uniform number between two numbers.
    pub(crate) fn range(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// Returns a uniform point on the unit sphere.
    pub(crate) fn direction(&mut self) -> Vec3 {
        loop {
            let p = Vec3::new(
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
                self.range(-1.0, 1.0),
            );
            if (0.01..1.0).contains(&p.length_squared()) {
                return p.normalize();
            }
        }
    }
}

/// Returns a random number in 0..1 for a lattice point.
fn lattice(x: i32, y: i32, seed: u32) -> f32 {
    let mut h = (x as u32).wrapping_mul(0x85eb_ca6b)
        ^ (y as u32).wrapping_mul(0xc2b2_ae35)
        ^ seed.wrapping_mul(0x27d4_eb2f);
    h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    (h ^ (h >> 15)) as f32 / u32::MAX as f32
}

/// Value noise in 0..1 that repeats every `period` lattice cells.
pub(crate) fn value(p: Vec2, period: i32, seed: u32) -> f32 {
    let cell = p.floor();
    let f = p - cell;
    let f = f * f * (3.0 - 2.0 * f);
    let corner = |dx: i32, dy: i32| {
        let x = (cell.x as i32 + dx).rem_euclid(period);
        let y = (cell.y as i32 + dy).rem_euclid(period);
        lattice(x, y, seed)
    };
    let low = corner(0, 0) + (corner(1, 0) - corner(0, 0)) * f.x;
    let high = corner(0, 1) + (corner(1, 1) - corner(0, 1)) * f.x;
    low + (high - low) * f.y
}

/// Sum of octaves of value noise over the unit square, approximately 0 to 1, which tiles.
pub(crate) fn fractal(p: Vec2, cells: i32, octaves: u32, seed: u32) -> f32 {
    let mut sum = 0.0;
    let mut weight = 0.0;
    for octave in 0..octaves {
        let period = cells << octave;
        let share = 0.5f32.powi(octave as i32);
        sum += share * value(p * period as f32, period, seed + octave);
        weight += share;
    }
    sum / weight
}
