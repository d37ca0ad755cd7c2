//! CPU references of the fog's medium, phase function, noise and froxels, in f64.

use glam::DVec3;

/// Medium with the parameters of `config.toml`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fog {
    /// Extinction per metre up to `base`.
    pub density: f64,
    /// Height in metres up to which the density is constant.
    pub base: f64,
    /// Exponential falloff per metre above `base`.
    pub falloff: f64,
    /// Amplitude of the noise, relative to the density.
    pub noise: f64,
    /// Size of the largest noise octave in metres.
    pub noise_size: f64,
}

impl Fog {
    /// Returns the extinction per metre at a point, without noise.
    pub fn extinction(&self, at: DVec3) -> f64 {
        self.density * (-self.falloff * (at.y - self.base).max(0.0)).exp()
    }

    /// Returns the extinction per metre at a point, with all octaves of noise.
    pub fn mottled(&self, at: DVec3) -> f64 {
        self.extinction(at) * self.noise_at(at, 0.0)
    }

    /// Returns the optical depth between two points, without noise. This is the integral of the extinction.
    pub fn optical_depth(&self, a: DVec3, b: DVec3) -> f64 {
        let rise = b.y - a.y;
        let integral = |height: f64| {
            let above = height - self.base;
            match self.falloff * above {
                x if x <= 0.0 => above,
                x => -(-x).exp_m1() / self.falloff,
            }
        };
        let mean = if self.falloff * rise.abs() < 1e-9 {
            self.extinction(0.5 * (a + b)) / self.density.max(f64::MIN_POSITIVE)
        } else {
            (integral(b.y) - integral(a.y)) / rise
        };
        self.density * a.distance(b) * mean
    }

    /// Returns the optical depth from a point along a unit vector to infinity.
    pub fn optical_depth_beyond(&self, a: DVec3, direction: DVec3) -> f64 {
        if direction.y * self.falloff <= 0.0 {
            return f64::INFINITY;
        }
        let below = (self.base - a.y).max(0.0);
        let extinction = self.extinction(a);
        (self.density * below + extinction / self.falloff) / direction.y
    }

    /// Returns the noise factor on the density, without octaves smaller than `width`.
    pub fn noise_at(&self, position: DVec3, width: f64) -> f64 {
        let mut at = position / self.noise_size;
        let (mut sum, mut weight, mut finest) = (0.0, 1.0, self.noise_size);
        for _ in 0..3 {
            let kept = (2.0 - 2.0 * width / finest).clamp(0.0, 1.0);
            sum += weight * kept * lattice_between(at);
            at = 2.0 * at + DVec3::new(17.0, 59.0, 83.0);
            weight *= 0.5;
            finest *= 0.5;
        }
        1.0 + self.noise * sum.clamp(-1.0, 1.0)
    }
}

/// Returns a number in [−1, 1] for a lattice point.
fn lattice(cell: [i64; 3]) -> f64 {
    let [x, y, z] = cell.map(|at| at as u32);
    let mut h = x.wrapping_mul(0x8da6_b343) ^ y.wrapping_mul(0xd816_3841) ^ z.wrapping_mul(0xcb1a_b31f);
    h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
    h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
    f64::from((h ^ (h >> 15)) >> 8) / 8_388_607.5 - 1.0
}

fn lattice_between(at: DVec3) -> f64 {
    let corner = at.floor();
    let f = at - corner;
    let w = f * f * f * (f * (6.0 * f - 15.0) + 10.0);
    let corner = [corner.x, corner.y, corner.z].map(|at| at as i64);
    let mut sum = 0.0;
    for i in 0..8 {
        let part = |axis: usize| i >> axis & 1;
        let weight = |axis: usize| match part(axis) {
            0 => 1.0 - w[axis],
            _ => w[axis],
        };
        let cell = std::array::from_fn(|axis| corner[axis] + part(axis));
        sum += weight(0) * weight(1) * weight(2) * lattice(cell);
    }
    sum
}

/// Returns the phase function of Henyey and Greenstein (1941), per steradian. `cosine` is the cosine of the
/// scattering angle.
pub fn phase(anisotropy: f64, cosine: f64) -> f64 {
    let g = anisotropy;
    let d = 1.0 + g * g - 2.0 * g * cosine;
    (1.0 - g * g) / (4.0 * std::f64::consts::PI * d * d.sqrt())
}

/// Samples the cosine of the scattering angle by that phase function, for `u` in [0, 1].
pub fn phase_cosine(anisotropy: f64, u: f64) -> f64 {
    let g = anisotropy;
    if g.abs() < 1e-6 {
        return 2.0 * u - 1.0;
    }
    let s = (1.0 - g * g) / (1.0 - g + 2.0 * g * u);
    ((1.0 + g * g - s * s) / (2.0 * g)).clamp(-1.0, 1.0)
}

/// Returns the depth at a fraction of the froxel range that ends at `far`.
pub fn depth_of(far: f64, share: f64) -> f64 {
    far * (4.0 * share).exp_m1() / 4.0_f64.exp_m1()
}

/// Slice of a column of froxels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slice {
    /// Optical depth of the slice.
    pub optical_depth: f64,
    /// In-scattered radiance over the extinction.
    pub light: DVec3,
}

/// Returns the scattered radiance and transmittance in front of each slice of a column, and beyond the last
/// slice.
pub fn integrate(column: &[Slice]) -> Vec<(DVec3, f64)> {
    let mut air = vec![(DVec3::ZERO, 1.0)];
    let (mut scattered, mut passes) = (DVec3::ZERO, 1.0);
    for slice in column {
        scattered += passes * -(-slice.optical_depth).exp_m1() * slice.light;
        passes *= (-slice.optical_depth).exp();
        air.push((scattered, passes));
    }
    air
}

/// Returns the in-scattered radiance and transmittance along a ray, by quadrature with `steps` steps over
/// `distance`. `light` returns the in-scattered radiance at a point over the extinction.
pub fn march(
    (origin, direction): (DVec3, DVec3),
    distance: f64,
    steps: u32,
    extinction: impl Fn(DVec3) -> f64,
    light: impl Fn(DVec3) -> DVec3,
) -> (DVec3, f64) {
    let step = distance / f64::from(steps);
    let slice = |i| {
        let at = origin + (f64::from(i) + 0.5) * step * direction;
        Slice {
            optical_depth: step * extinction(at),
            light: light(at),
        }
    };
    let column: Vec<_> = (0..steps).map(slice).collect();
    integrate(&column).pop().unwrap_or((DVec3::ZERO, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optical_depths_are_integrals_of_the_extinction() {
        let fog = Fog {
            density: 0.7,
            base: 0.5,
            falloff: 0.8,
            noise: 0.0,
            noise_size: 1.0,
        };
        let ends = [
            (DVec3::new(0.0, -2.0, 0.0), DVec3::new(1.0, 3.0, 2.0)),
            (DVec3::new(0.0, 1.0, 0.0), DVec3::new(4.0, 1.0, 0.0)),
            (DVec3::new(0.0, 4.0, 0.0), DVec3::new(0.0, -1.0, 0.0)),
        ];
        for (a, b) in ends {
            let along = (b - a).normalize();
            let none = |_| DVec3::ZERO;
            let distance = a.distance(b);
            let (_, passes) = march((a, along), distance, 40_000, |at| fog.extinction(at), none);
            let depth = fog.optical_depth(a, b);
            assert!((depth + passes.ln()).abs() < 1e-6, "{depth} {passes}");
        }
        let (from, up) = (DVec3::new(0.0, -1.0, 0.0), DVec3::new(0.6, 0.8, 0.0));
        let far = fog.optical_depth(from, from + 100.0 * up);
        assert!((far - fog.optical_depth_beyond(from, up)).abs() < 1e-9);
        assert!(fog.optical_depth_beyond(from, -up).is_infinite());
    }

    #[test]
    fn the_phase_function_is_normalized_and_sampled_proportionally() {
        const STEPS: u32 = 100_000;
        for anisotropy in [-0.7, 0.0, 0.4, 0.9] {
            let cosine = |i: u32| 2.0 * (f64::from(i) + 0.5) / f64::from(STEPS) - 1.0;
            let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
                let terms = (0..STEPS).map(cosine).map(|c| of(c) * phase(anisotropy, c));
                terms.sum::<f64>() * 4.0 * std::f64::consts::PI / f64::from(STEPS)
            };
            assert!((sum(&|_| 1.0) - 1.0).abs() < 1e-3, "{anisotropy}");
            // The mean cosine is the anisotropy.
            assert!((sum(&|c| c) - anisotropy).abs() < 1e-3, "{anisotropy}");
            let sampled = |i: u32| phase_cosine(anisotropy, (f64::from(i) + 0.5) / 1000.0);
            let mean = (0..1000).map(sampled).sum::<f64>() / 1000.0;
            assert!((mean - anisotropy).abs() < 1e-3, "{anisotropy}: {mean}");
        }
    }

    #[test]
    fn fog_noise_has_a_mean_of_one() {
        let fog = Fog {
            density: 1.0,
            base: 0.0,
            falloff: 0.0,
            noise: 1.0,
            noise_size: 2.0,
        };
        let side = 40;
        let at = |i: i32| 1.93 * f64::from(i) - 7.0;
        let points = (0..side * side * side)
            .map(|i| DVec3::new(at(i % side), at(i / side % side), at(i / side / side)));
        let found: Vec<_> = points.map(|at| fog.noise_at(at, 0.0)).collect();
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!(found.iter().all(|share| (0.0..=2.0).contains(share)));
        assert!(found.iter().any(|share| *share < 0.4));
        assert!(found.iter().any(|share| *share > 1.6));
        // Octaves below the width are left out.
        assert_eq!(fog.noise_at(DVec3::new(0.3, 0.2, 0.1), 2.0), 1.0);
    }
}
