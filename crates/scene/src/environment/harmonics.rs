//! Spherical harmonics of five bands.

use glam::DVec3;

/// Number of coefficients of five bands.
pub const COEFFICIENTS: usize = 25;

/// Evaluates radiance or irradiance in the unit direction `v`. The result can be negative.
pub fn evaluate_sh(coefficients: &[DVec3; COEFFICIENTS], v: DVec3) -> DVec3 {
    let terms = coefficients.iter().zip(basis(v));
    terms.map(|(coefficient, basis)| *coefficient * basis).sum()
}

/// Evaluates the orthonormal real basis at the unit vector `v`, by ascending band and order: Y_1-1 ∝ y, Y_10
/// ∝ z, Y_11 ∝ x (Sloan 2008, "Stupid Spherical Harmonics Tricks", appendix A2, without the Condon-Shortley
/// phase).
pub fn basis(v: DVec3) -> [f64; COEFFICIENTS] {
    let (x, y, z) = (v.x, v.y, v.z);
    let (xx, yy, zz) = (x * x, y * y, z * z);
    [
        0.282_094_791_773_878_14,
        0.488_602_511_902_919_9 * y,
        0.488_602_511_902_919_9 * z,
        0.488_602_511_902_919_9 * x,
        1.092_548_430_592_079_2 * x * y,
        1.092_548_430_592_079_2 * y * z,
        0.315_391_565_252_52 * (3.0 * zz - 1.0),
        1.092_548_430_592_079_2 * x * z,
        0.546_274_215_296_039_6 * (xx - yy),
        0.590_043_589_926_643_5 * y * (3.0 * xx - yy),
        2.890_611_442_640_554 * x * y * z,
        0.457_045_799_464_465_8 * y * (5.0 * zz - 1.0),
        0.373_176_332_590_115_46 * z * (5.0 * zz - 3.0),
        0.457_045_799_464_465_8 * x * (5.0 * zz - 1.0),
        1.445_305_721_320_277 * z * (xx - yy),
        0.590_043_589_926_643_5 * x * (xx - 3.0 * yy),
        2.503_342_941_796_704_6 * x * y * (xx - yy),
        1.770_130_769_779_930_4 * y * z * (3.0 * xx - yy),
        0.946_174_695_757_560_1 * x * y * (7.0 * zz - 1.0),
        0.669_046_543_557_289_2 * y * z * (7.0 * zz - 3.0),
        0.105_785_546_915_204_31 * ((35.0 * zz - 30.0) * zz + 3.0),
        0.669_046_543_557_289_2 * x * z * (7.0 * zz - 3.0),
        0.473_087_347_878_780_04 * (xx - yy) * (7.0 * zz - 1.0),
        1.770_130_769_779_930_4 * x * z * (xx - 3.0 * yy),
        0.625_835_735_449_176_1 * (xx * (xx - 3.0 * yy) - yy * (3.0 * xx - yy)),
    ]
}
