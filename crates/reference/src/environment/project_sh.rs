//! Twin of `project_sh`: the radiance of a cube to spherical harmonics and back, in f64, and in f32 for a
//! CPU.
//!
//! A cube is six faces of `face` × `face` texels, one after another, row by row.

pub use canopy_scene::environment::harmonics::{COEFFICIENTS, basis, evaluate_sh};

use super::cube_map::{direction, solid_angles, texel_direction};
use canopy_scene::environment::harmonics::basis_f32;
use glam::{DVec2, DVec3, Vec3, Vec4};
use half::{f16, slice::HalfFloatSliceExt};
use std::{f64::consts::PI, ops::Range};

/// A texel of a cube: red, green, blue, alpha.
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

/// The coefficients of the cube's radiance in the orthonormal real basis, by ascending band and order; zero
/// past `order` bands. This is the specification of the pass.
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

/// As [`project_sh`], in f32 on one thread and with one sum over all texels, to measure the pass by. `N` is 9
/// or 25 coefficients.
pub fn project_sh_f32<T: Texel, const N: usize>(texels: &[T], face: usize) -> [Vec3; N] {
    scaled(project_rows(texels, face, 0..face))
}

/// As [`project_sh_f32`], on all threads of the machine.
pub fn project_sh_f32_threads<T: Texel, const N: usize>(texels: &[T], face: usize) -> [Vec3; N] {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = face.div_ceil(threads).max(1);
    let parts: Vec<_> = std::thread::scope(|scope| {
        let starts = (0..face).step_by(rows);
        let spawn = |start: usize| {
            let part = start..face.min(start + rows);
            scope.spawn(move || project_rows::<T, N>(texels, face, part))
        };
        let workers: Vec<_> = starts.map(spawn).collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
            .collect()
    });
    let mut whole = ([Vec4::ZERO; N], 0.0);
    for (sums, sphere) in parts {
        for (whole, sum) in whole.0.iter_mut().zip(sums) {
            *whole += sum;
        }
        whole.1 += sphere;
    }
    scaled(whole)
}

fn scaled<const N: usize>((sums, sphere): ([Vec4; N], f32)) -> [Vec3; N] {
    let scale = 4.0 * std::f32::consts::PI / sphere;
    sums.map(|sum| sum.truncate() * scale)
}

/// The sums over the same rows of all six faces, and their solid angle. The faces share the solid angles and
/// lengths of a row.
fn project_rows<T: Texel, const N: usize>(texels: &[T], face: usize, rows: Range<usize>) -> ([Vec4; N], f32) {
    let mut sums = [Vec4::ZERO; N];
    let mut sphere = 0.0;
    let mut row = vec![[0.0; 4]; face];
    // Solid angle, one over the length, and the horizontal coordinate of each texel of a row.
    let mut shared = vec![[0.0; 3]; face];
    let center = |i: usize| (2.0 * i as f32 + 1.0) / face as f32 - 1.0;
    for y in rows {
        let t = center(y);
        for (x, shared) in shared.iter_mut().enumerate() {
            let s = center(x);
            let solid_angle = texel_solid_angle_f32(face, x, y);
            *shared = [solid_angle, 1.0 / (1.0 + s * s + t * t).sqrt(), s];
            sphere += 6.0 * solid_angle;
        }
        for side in 0..6 {
            let middle = direction(side, DVec2::ZERO);
            let [middle, right, down] = [
                middle,
                direction(side, DVec2::X) - middle,
                direction(side, DVec2::Y) - middle,
            ]
            .map(|axis| axis.as_vec3());
            T::load(&texels[(side * face + y) * face..][..face], &mut row);
            let left = middle + down * t;
            for ([solid_angle, nearness, s], texel) in shared.iter().zip(&row) {
                let v = (left + right * *s) * *nearness;
                let basis: [f32; N] = basis_f32(v);
                let weighed = Vec4::from_array(*texel) * *solid_angle;
                for (sum, basis) in sums.iter_mut().zip(basis) {
                    *sum += weighed * basis;
                }
            }
        }
    }
    (sums, sphere)
}

/// The greatest difference of a coefficient from the `exact` one, relative to the greatest channel of the
/// first; infinite where one is not finite.
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

/// The coefficients of irradiance: those of radiance convolved with the cosine lobe (Ramamoorthi and Hanrahan
/// 2001, equation 8).
pub fn irradiance_sh(radiance: &[DVec3; COEFFICIENTS]) -> [DVec3; COEFFICIENTS] {
    let lobe = [PI, 2.0 * PI / 3.0, PI / 4.0, 0.0, -PI / 24.0];
    std::array::from_fn(|i| radiance[i] * lobe[i.isqrt()])
}

/// Irradiance of a surface with the unit normal `n`, summed over every texel of the cube.
pub fn irradiance<T: Texel>(texels: &[T], face: usize, n: DVec3) -> DVec3 {
    let mut sum = DVec3::ZERO;
    weighed_texels(texels, face, |direction, weighed| {
        sum += weighed * n.dot(direction).max(0.0);
    });
    sum
}

/// The solid angle of a texel in f32, in which the differences of [`texel_solid_angle`] cancel: two triangles
/// after Van Oosterom and Strackee 1983, as in the pass.
///
/// [`texel_solid_angle`]: super::cube_map::texel_solid_angle
pub fn texel_solid_angle_f32(face: usize, x: usize, y: usize) -> f32 {
    if face == 1 {
        return 2.0 * std::f32::consts::PI / 3.0;
    }
    let n = face as f32;
    // In units of half a texel all dot products are integers.
    let [s0, t0] = [x, y].map(|i| 2.0 * i as f32 - n);
    let (s1, t1) = (s0 + 2.0, t0 + 2.0);
    let dot = |s: f32, t: f32| n * n + s + t;
    let a = dot(s0 * s0, t0 * t0).sqrt();
    let b = dot(s1 * s1, t0 * t0).sqrt();
    let c = dot(s1 * s1, t1 * t1).sqrt();
    let d = dot(s0 * s0, t1 * t1).sqrt();
    let ac = dot(s0 * s1, t0 * t1);
    let first = (a * b + dot(s0 * s1, t0 * t0)) * c + dot(s1 * s1, t0 * t1) * a + ac * b;
    let second = (a * c + ac) * d + dot(s0 * s1, t1 * t1) * a + dot(s0 * s0, t0 * t1) * c;
    let volume = 4.0 * n;
    let x = volume * (first + second) / (first * second - volume * volume);
    let xx = x * x;
    // The arc of at most 0.27, by its series.
    let series = [-1.0 / 11.0, 1.0 / 9.0, -1.0 / 7.0, 0.2, -1.0 / 3.0, 1.0];
    2.0 * x * series.iter().fold(0.0, |sum, factor| sum * xx + factor)
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

    /// Along an edge, through the centre and along the diagonal of a face.
    #[test]
    fn solid_angles_in_f32_are_exact_at_every_size() {
        let mut worst: f64 = 0.0;
        for face in (1..=128).chain([255, 256, 257, 511, 512, 513, 1023, 1024, 2047, 2048]) {
            let exact = solid_angles(face);
            for i in 0..face {
                for (x, y) in [(i, 0), (i, face / 2), (i, i)] {
                    let ratio = f64::from(texel_solid_angle_f32(face, x, y)) / exact[y * face + x];
                    worst = worst.max((ratio - 1.0).abs());
                }
            }
        }
        assert!(worst < 6e-7, "{worst:e}");
    }

    /// The basis is orthonormal: integrals over the sphere are 1 of squares and 0 of products of two
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
