//! Primaries and white point of an image's colours, and their conversion to linear Rec. 709, in which canopy
//! works.

use glam::{DMat3, DVec3, Mat3, Vec3};

/// CIE xy of red, green, blue and white.
pub(super) type Chromaticities = [[f64; 2]; 4];

/// Chromaticities of Rec. 709 and sRGB.
const REC_709: Chromaticities = [[0.64, 0.33], [0.3, 0.6], [0.15, 0.06], [0.3127, 0.329]];

/// Difference below which chromaticities count as equal, because files round them to three digits.
const TOLERANCE: f64 = 6e-4;

/// Maximum absolute value of a coordinate. Real and imaginary primaries in use are below 2.
const LARGEST: f64 = 10.0;

/// Bradford cone response matrix from XYZ (Lam 1985), column-major.
const BRADFORD: DMat3 = DMat3::from_cols(
    DVec3::new(0.8951, -0.7502, 0.0389),
    DVec3::new(0.2664, 1.7135, -0.0685),
    DVec3::new(-0.1614, 0.0367, 1.0296),
);

/// Returns the matrix from linear colours with these primaries to linear Rec. 709, with chromatic adaptation
/// to its white. Returns `None` if the primaries are those of Rec. 709, or if all are zero, which Photoshop
/// writes for unknown primaries.
pub(super) fn to_rec709(from: &Chromaticities) -> Result<Option<Mat3>, String> {
    let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < TOLERANCE;
    let pairs = from.as_flattened().iter().zip(REC_709.as_flattened());
    let is_untold = from.as_flattened().iter().all(|number| *number == 0.0);
    if is_untold || pairs.into_iter().all(is_near) {
        return Ok(None);
    }
    let fault = || {
        let numbers: Vec<_> = from.as_flattened().iter().map(|xy| format!("{xy:?}")).collect();
        format!(
            "has the chromaticities {}, which do not span a colour space",
            numbers.join(" ")
        )
    };
    let (to_xyz, white) = xyz(from).ok_or_else(fault)?;
    let (own, own_white) = xyz(&REC_709).ok_or_else(fault)?;
    let gains = (BRADFORD * own_white) / (BRADFORD * white);
    let adapted = BRADFORD.inverse() * DMat3::from_diagonal(gains) * BRADFORD;
    let matrix = (own.inverse() * adapted * to_xyz).as_mat3();
    let is_sound = matrix.is_finite() && gains.min_element() > 0.0;
    is_sound.then_some(Some(matrix)).ok_or_else(fault)
}

/// Returns the matrix to XYZ, and the XYZ of white with a Y of 1. Returns `None` if the primaries are
/// collinear or do not enclose white.
fn xyz(of: &Chromaticities) -> Option<(DMat3, DVec3)> {
    let numbers = of.as_flattened();
    if !numbers.iter().all(|number| number.abs() <= LARGEST) {
        return None;
    }
    let [red, green, blue, white] = of.map(|[x, y]| DVec3::new(x, y, 1.0 - x - y));
    let primaries = DMat3::from_cols(red, green, blue);
    if primaries.determinant().abs() < 1e-3 || white.y < 1e-3 {
        return None;
    }
    let white = white / white.y;
    let scale = primaries.inverse() * white;
    (scale.min_element() > 0.0).then(|| (primaries * DMat3::from_diagonal(scale), white))
}

/// Converts colours. Colours that are not finite are unchanged.
pub(super) fn convert(matrix: &Mat3, colors: &mut [[f32; 3]]) {
    for color in colors {
        let found = Vec3::from(*color);
        if found.is_finite() {
            *color = (*matrix * found).to_array();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REC_2020: Chromaticities = [[0.708, 0.292], [0.17, 0.797], [0.131, 0.046], [0.3127, 0.329]];

    #[test]
    fn rec_2020_conversion_matches_itu_r_bt_2087() {
        let matrix = to_rec709(&REC_2020).unwrap().unwrap();
        let expected = Mat3::from_cols_array(&[
            1.6605, -0.1246, -0.0182, -0.5876, 1.1329, -0.1006, -0.0728, -0.0083, 1.1187,
        ]);
        assert!(matrix.abs_diff_eq(expected, 1e-4), "{matrix}");
        let mut colors = [[2.0, 2.0, 2.0], [f32::INFINITY, 0.0, 1.0]];
        convert(&matrix, &mut colors);
        assert!(Vec3::from(colors[0]).abs_diff_eq(Vec3::splat(2.0), 1e-5));
        assert_eq!(colors[1], [f32::INFINITY, 0.0, 1.0]);
    }

    #[test]
    fn white_stays_white_with_other_white_points() {
        for from in [
            // ACES AP0 and AP1; CIE RGB; XYZ.
            [[0.7347, 0.2653], [0.0, 1.0], [0.0001, -0.077], [0.32168, 0.33767]],
            [[0.713, 0.293], [0.165, 0.83], [0.128, 0.044], [0.32168, 0.33767]],
            [
                [0.7347, 0.2653],
                [0.2738, 0.7174],
                [0.1666, 0.0089],
                [1.0 / 3.0; 2],
            ],
            [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0 / 3.0; 2]],
        ] {
            let matrix = to_rec709(&from).unwrap().unwrap();
            assert!((matrix * Vec3::ONE).abs_diff_eq(Vec3::ONE, 1e-5), "{from:?}");
            // The primary is more saturated than the primaries of Rec. 709.
            assert!(matrix.x_axis.x > 1.0 && matrix.x_axis.y < 0.0);
        }
    }

    #[test]
    fn rec_709_needs_no_conversion() {
        let rounded = [[0.64, 0.33], [0.3, 0.6], [0.15, 0.06], [0.3128, 0.3292]];
        for from in [
            REC_709,
            REC_709.map(|xy| xy.map(|c| f64::from(c as f32))),
            rounded,
            [[0.0; 2]; 4],
        ] {
            assert_eq!(to_rec709(&from).unwrap(), None);
        }
    }

    #[test]
    fn degenerate_primaries_are_refused() {
        let mut broken = vec![
            [[0.3; 2]; 4],
            [[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.2, 0.2]],
            // White outside the gamut.
            [[0.64, 0.33], [0.3, 0.6], [0.15, 0.06], [0.7, 0.3]],
            [[0.64, 0.33], [0.3, 0.6], [0.15, 0.06], [0.3, 0.0]],
        ];
        for value in [f64::NAN, f64::INFINITY, -f64::INFINITY, 1e30, -1e30] {
            for index in 0..8 {
                let mut from = REC_2020;
                from.as_flattened_mut()[index] = value;
                broken.push(from);
            }
        }
        for from in broken {
            let why = to_rec709(&from).unwrap_err();
            assert!(why.contains("do not span"), "{why}");
        }
    }
}
