//! Twin of `tonemap`, in f64: exposed radiance to sRGB-encoded display values.

use crate::gpu::layout::TonemapParams;
use glam::{DMat3, DVec3};

/// The display value, 0 to 1 a channel, of linear radiance.
pub fn tonemap(params: &TonemapParams, radiance: DVec3) -> DVec3 {
    let exposed = radiance * f64::from(params.exposure);
    let toned = match params.curve {
        1 => exposed / (DVec3::ONE + exposed),
        2 => aces(exposed),
        3 => neutral(exposed),
        _ => exposed,
    };
    DVec3::from(toned.to_array().map(srgb_encode))
}

/// IEC 61966-2-1.
pub(super) fn srgb_encode(linear: f64) -> f64 {
    let c = linear.clamp(0.0, 1.0);
    if c <= 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    }
}

/// Stephen Hill's fit of the ACES reference rendering and output transforms.
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
    out_of
        * ((v * (v + 0.024_578_6) - 0.000_090_537) / (v * (0.983_729 * v + 0.432_951) + 0.238_081))
}

/// Khronos PBR Neutral, after its specification: an offset by the Fresnel of dielectrics, then compression above 0.8.
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
