//! CPU reference of `tonemap`, in f64: maps exposed radiance to sRGB-encoded display values.

use canopy_render::layout::{Exposure, RADIANCE_MAX, TonemapParams};

use glam::{DMat3, DVec3};

/// Returns the display value in [0, 1] per channel. `radiance` is linear, and `display` is linear light that
/// is added after the tone curve.
pub fn tonemap(params: &TonemapParams, exposure: &Exposure, radiance: DVec3, display: DVec3) -> DVec3 {
    let exposed = (radiance * f64::from(exposure.scale)).min(DVec3::splat(RADIANCE_MAX));
    let toned = match params.curve {
        1 => exposed / (DVec3::ONE + exposed),
        2 => aces(exposed),
        3 => neutral(exposed),
        4 => agx(exposed),
        _ => exposed,
    };
    let shown = toned.clamp(DVec3::ZERO, DVec3::ONE) + display;
    DVec3::from(shown.to_array().map(srgb_encode))
}

/// Encodes a linear value as sRGB (IEC 61966-2-1).
pub(super) fn srgb_encode(linear: f64) -> f64 {
    let c = linear.clamp(0.0, 1.0);
    if c <= 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    }
}

/// Decodes sRGB, the inverse of [`srgb_encode`].
pub(super) fn srgb_decode(encoded: f64) -> f64 {
    if encoded <= 0.040_45 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}

/// Applies Stephen Hill's fit of the ACES reference rendering and output transforms.
fn aces(color: DVec3) -> DVec3 {
    let into = DMat3::from_cols_array_2d(&[
        [0.59719, 0.35458, 0.04823],
        [0.07600, 0.90834, 0.01566],
        [0.02840, 0.13383, 0.83777],
    ])
    .transpose();
    let out_of = DMat3::from_cols_array_2d(&[
        [1.60475, -0.53108, -0.07367],
        [-0.10208, 1.10813, -0.00605],
        [-0.00327, -0.07276, 1.07602],
    ])
    .transpose();
    let v = into * color;
    out_of * ((v * (v + 0.024_578_6) - 0.000_090_537) / (v * (0.983_729 * v + 0.432_951) + 0.238_081))
}

/// Applies AgX in Rec. 2020, with the matrices of Filament and three.js and Wrensch's sixth-order polynomial.
fn agx(color: DVec3) -> DVec3 {
    let rows = |rows: [[f64; 3]; 3]| DMat3::from_cols_array_2d(&rows).transpose();
    // Matrix of ITU-R BT.2087.
    let rec2020_from_srgb = rows([
        [0.627_403_896, 0.329_283_038, 0.043_313_066],
        [0.069_097_289, 0.919_540_395, 0.011_362_316],
        [0.016_391_439, 0.088_013_308, 0.895_595_253],
    ]);
    let inset = rows([
        [
            0.856_627_153_315_983,
            0.095_121_240_538_158_8,
            0.048_251_606_145_858_3,
        ],
        [
            0.137_318_972_929_847,
            0.761_241_990_602_591,
            0.101_439_036_467_562,
        ],
        [
            0.111_898_212_999_95,
            0.076_799_418_603_190_3,
            0.811_302_368_396_859,
        ],
    ]);
    let outset = rows([
        [
            1.127_100_581_814_436_8,
            -0.110_606_643_096_603_23,
            -0.016_493_938_717_834_573,
        ],
        [
            -0.141_329_763_498_438_3,
            1.157_823_702_216_272,
            -0.016_493_938_717_834_257,
        ],
        [
            -0.141_329_763_498_438_26,
            -0.110_606_643_096_602_94,
            1.251_936_406_595_040_5,
        ],
    ]);
    let (least, most) = (-12.47393, 4.026_069);
    let encode = |light: f64| ((light.max(1e-10).log2() - least) / (most - least)).clamp(0.0, 1.0);
    let encoded = (inset * (rec2020_from_srgb * color)).map(encode);
    let display = (outset * encoded.map(agx_curve)).map(|c| c.max(0.0).powf(2.2));
    rec2020_from_srgb.inverse() * display
}

/// Evaluates Wrensch's fit of AgX's curve from encoded stops to display values.
fn agx_curve(x: f64) -> f64 {
    let factors = [15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.00232];
    factors.iter().fold(0.0, |sum, factor| sum * x + factor)
}

/// Applies Khronos PBR Neutral, as specified. It subtracts the Fresnel reflection of dielectrics, then
/// compresses above 0.8.
fn neutral(color: DVec3) -> DVec3 {
    let (start, fresnel) = (0.8 - 0.04, 0.04);
    let smallest = color.min_element();
    let offset = if smallest <= 2.0 * fresnel {
        smallest - smallest * smallest / (4.0 * fresnel)
    } else {
        fresnel
    };
    let color = color - offset;
    let peak = color.max_element();
    if peak <= start {
        return color;
    }
    let compressed = 1.0 - (1.0 - start).powi(2) / (peak + 1.0 - 2.0 * start);
    let desaturation = 1.0 / (0.15 * (peak - compressed) + 1.0);
    (color * compressed / peak).lerp(DVec3::splat(compressed), 1.0 - desaturation)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVES: std::ops::RangeInclusive<u32> = 0..=4;

    fn shown(curve: u32, radiance: DVec3) -> DVec3 {
        let params = TonemapParams {
            curve,
            ..TonemapParams::default()
        };
        let exposure = Exposure {
            scale: 1.0,
            ..Exposure::default()
        };
        tonemap(&params, &exposure, radiance, DVec3::ZERO)
    }

    #[test]
    fn curves_rise_from_black_to_white_and_keep_greys_grey() {
        for curve in CURVES {
            assert!(shown(curve, DVec3::ZERO).max_element() < 1e-9, "{curve}");
            let mut before = 0.0;
            for step in 0..=1000 {
                let radiance = 2f64.powf(0.03 * f64::from(step) - 14.0);
                let grey = shown(curve, DVec3::splat(radiance));
                let level = grey.min_element();
                assert!(grey.max_element() - level < 2e-4, "{curve}: {grey}");
                assert!(level >= before, "{curve} falls at {radiance}");
                before = level;
            }
            assert!(before > 0.998, "{curve} ends at {before}");
            // A colour that is brighter in one channel is displayed no darker.
            let luminance = |color: DVec3| color.dot(DVec3::new(0.2126, 0.7152, 0.0722));
            let orange = |stops: i32| shown(curve, DVec3::new(1.0, 0.4, 0.1) * 2f64.powi(stops));
            let levels: Vec<_> = (-12..16).map(|stops| luminance(orange(stops))).collect();
            assert!(levels.is_sorted(), "{curve}: {levels:?}");
        }
    }

    /// IEC 61966-2-1 at the end of the linear part, at middle grey, and at half of the levels.
    #[test]
    fn srgb_encoding_follows_iec_61966_2_1() {
        for encoded in [0.0, 0.02, 0.0404, 0.0405, 0.3, 1.0] {
            assert!((srgb_encode(srgb_decode(encoded)) - encoded).abs() < 1e-6);
        }
        for (linear, encoded) in [(0.003_130_8, 0.040_45), (0.18, 0.461_36), (0.214_04, 0.5)] {
            assert!((srgb_encode(linear) - encoded).abs() < 1e-5, "{linear}");
        }
    }

    /// The specification promises that below 0.8 a colour keeps its hue and value, minus the 0.04 that a
    /// dielectric reflects.
    #[test]
    fn neutral_keeps_base_colors() {
        for color in [[0.5, 0.2, 0.1], [0.7, 0.7, 0.7], [0.08, 0.6, 0.3]] {
            let color = DVec3::from(color);
            assert!((neutral(color) - (color - 0.04)).length() < 1e-12);
        }
        assert!(neutral(DVec3::new(100.0, 1.0, 1.0)).min_element() > 0.8);
    }

    /// Sobotka's curve (AgX.py) has its pivot at middle grey and 0.5, with a slope of 2. Its powers are 3 for
    /// the toe and 3.25 for the shoulder. Wrensch gives a mean squared error of 3.67 · 10⁻⁶ for the
    /// sixth-order least-squares fit. With his four-digit coefficients, the error is 7.09 · 10⁻⁶.
    #[test]
    fn agx_fits_the_original_curve() {
        let (pivot, slope) = (10.0 / 16.5, 2.0);
        let original = |x: f64| {
            let (width, power, sign) = if x < pivot {
                (pivot, 3.0, -1.0)
            } else {
                (1.0 - pivot, 3.25, 1.0)
            };
            let steep: f64 = slope * width;
            let scale = (steep.powf(-power) * ((steep / 0.5).powf(power) - 1.0)).powf(-1.0 / power);
            let t = slope * (x - pivot).abs() / scale;
            0.5 + sign * scale * t / (1.0 + t.powf(power)).powf(1.0 / power)
        };
        let squares = (0..=4096).map(|i| f64::from(i) / 4096.0);
        let squares = squares.map(|x| (agx_curve(x) - original(x)).powi(2));
        let mean = squares.sum::<f64>() / 4097.0;
        assert!((7.08e-6..7.10e-6).contains(&mean), "{mean:e}");
    }

    /// The range is from 10 stops below middle grey to 6.5 above, where bright colours become white.
    #[test]
    fn agx_covers_10_stops_below_and_6_5_above_middle_grey() {
        let stops = |stops: f64| 0.18 * stops.exp2();
        let grey = |radiance| shown(4, DVec3::splat(radiance)).y;
        assert!(grey(stops(-10.0)) < 1e-3 && grey(stops(6.5)) > 0.998);
        assert!(grey(stops(-5.0)) > 0.02 && grey(stops(5.5)) < 0.98);
        let blue = DVec3::new(0.0, 0.0, 1.0);
        let [near, far] = [1.0, 1000.0].map(|radiance| shown(4, blue * radiance));
        assert!(near.z - near.x > 0.3 && far.min_element() > 0.8, "{near} {far}");
    }
}
