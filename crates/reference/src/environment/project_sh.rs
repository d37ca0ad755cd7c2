//! CPU reference of `project_sh`, in f64: projects the radiance of a cube onto spherical harmonics, and
//! evaluates them.
//!
//! A cube has six faces of `face` × `face` texels, one after another and row by row.

pub use canopy_scene::environment::harmonics::{COEFFICIENTS, basis, evaluate_sh};

use super::cube_map::{solid_angles, texel_direction};
use glam::{DVec3, Vec3};
use half::{f16, slice::HalfFloatSliceExt};
use std::f64::consts::PI;

/// Texel of a cube with red, green, blue and alpha.
pub trait Texel: Copy + Sync {
    /// Converts a row of texels to floats.
    fn load(row: &[Self], out: &mut [[f32; 4]]);
}

impl Texel for [f32; 4] {
    fn load(row: &[Self], out: &mut [[f32; 4]]) {
        out.copy_from_slice(row);
    }
}

impl Texel for [f16; 4] {
    fn load(row: &[Self], out: &mut [[f32; 4]]) {
        let halves = row.as_flattened();
        halves.convert_to_f32_slice(out.as_flattened_mut());
    }
}

/// Returns the coefficients of the cube's radiance in the orthonormal real basis, by ascending band and
/// order, and zero past `order` bands. This is the specification of the pass.
pub fn project_sh<T: Texel>(texels: &[T], face: usize, order: usize) -> [DVec3; COEFFICIENTS] {
    let mut sums = [DVec3::ZERO; COEFFICIENTS];
    weighed_texels(texels, face, |direction, weighed| {
        for (sum, basis) in sums.iter_mut().zip(basis(direction)).take(order * order) {
            *sum += basis * weighed;
        }
    });
    sums
}

/// Calls `each` with the direction of each texel and its radiance × solid angle.
fn weighed_texels<T: Texel>(texels: &[T], face: usize, mut each: impl FnMut(DVec3, DVec3)) {
    let solid_angles = solid_angles(face);
    let mut row = vec![[0.0; 4]; face];
    for (number, texels) in texels.chunks_exact(face).enumerate() {
        T::load(texels, &mut row);
        let (side, y) = (number / face, number % face);
        let solid_angles = &solid_angles[y * face..][..face];
        for (x, ([r, g, b, _], solid_angle)) in row.iter().zip(solid_angles).enumerate() {
            let weighed = Vec3::new(*r, *g, *b).as_dvec3() * *solid_angle;
            each(texel_direction(face, side, x, y), weighed);
        }
    }
}

/// Returns the maximum difference between a coefficient and its `exact` value, relative to the greatest
/// channel of the first one. Infinite if a coefficient is not finite.
pub fn error(coefficients: &[DVec3], exact: &[DVec3]) -> f64 {
    if coefficients.iter().any(|c| !c.is_finite()) {
        return f64::INFINITY;
    }
    let differences = coefficients.iter().zip(exact);
    let greatest = differences
        .map(|(a, b)| (*a - *b).abs().max_element())
        .fold(0.0, f64::max);
    greatest / exact[0].abs().max_element()
}

/// Returns the coefficients of irradiance: the coefficients of radiance, convolved with the cosine lobe
/// (Ramamoorthi and Hanrahan 2001, equation 8).
pub fn irradiance_sh(radiance: &[DVec3; COEFFICIENTS]) -> [DVec3; COEFFICIENTS] {
    let lobe = [PI, 2.0 * PI / 3.0, PI / 4.0, 0.0, -PI / 24.0];
    std::array::from_fn(|i| radiance[i] * lobe[i.isqrt()])
}

/// Returns the irradiance of a surface with the unit normal `n`, summed over every texel of the cube.
pub fn irradiance<T: Texel>(texels: &[T], face: usize, n: DVec3) -> DVec3 {
    let mut sum = DVec3::ZERO;
    weighed_texels(texels, face, |direction, weighed| {
        sum += weighed * n.dot(direction).max(0.0);
    });
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::cube_map::nth_texel_direction;

    #[test]
    fn solid_angles_add_up_to_the_sphere() {
        for face in [1, 2, 3, 4, 5, 31, 32, 33, 64, 257, 1000, 2048] {
            let sphere = 6.0 * solid_angles(face).iter().sum::<f64>();
            assert!((sphere / (4.0 * PI) - 1.0).abs() < 1e-12, "{face}: {sphere}");
        }
    }

    /// The basis is orthonormal, so integrals over the sphere are 1 for squares and 0 for products of two
    /// functions.
    #[test]
    fn the_basis_is_orthonormal() {
        let face = 64;
        for first in 0..COEFFICIENTS {
            let texel = |i: usize| {
                let v = nth_texel_direction(face, i);
                [basis(v)[first] as f32; 4]
            };
            let texels: Vec<[f32; 4]> = (0..6 * face * face).map(texel).collect();
            for (second, sum) in project_sh(&texels, face, 5).into_iter().enumerate() {
                let expected = f64::from(u8::from(first == second));
                assert!((sum.x - expected).abs() < 2e-3, "{first} {second}: {sum}");
            }
        }
    }
}
