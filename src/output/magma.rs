//! Colour map of errors.

use super::deviation_colors::interpolate;
use glam::Vec3;

/// Colour map `magma` of matplotlib, from black over violet and orange to light yellow with increasing
/// lightness (van der Walt and Smith 2015). Colours are sRGB-encoded and evenly spaced. Interpolation is
/// within 3 of 255 of the original with 256 colours.
pub const MAGMA: [[u8; 3]; 17] = [
    [0, 0, 4],
    [10, 8, 34],
    [29, 17, 70],
    [54, 16, 106],
    [80, 18, 124],
    [105, 28, 129],
    [130, 38, 129],
    [156, 46, 127],
    [182, 55, 121],
    [207, 65, 112],
    [230, 81, 99],
    [245, 105, 92],
    [251, 135, 97],
    [254, 165, 113],
    [254, 195, 135],
    [253, 224, 162],
    [252, 253, 191],
];

/// Returns the colour at `share` of the range, from 0 to 1, as sRGB-encoded values from 0 to 1. Values
/// outside the range are clamped, and NaN has the upper colour.
pub fn color(share: f32) -> Vec3 {
    let share = if share.is_nan() { 1.0 } else { share };
    interpolate(&MAGMA, share.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Colours of matplotlib 3.11, at positions between our samples.
    #[test]
    fn magma_matches_matplotlib() {
        let bytes = |share| color(share).to_array().map(|c| (c * 255.0).round() as u8);
        for (place, theirs) in MATPLOTLIB {
            let ours = bytes(f32::from(place) / 255.0);
            let near = ours.iter().zip(theirs).all(|(a, b)| a.abs_diff(b) <= 3);
            assert!(near, "{place}: {ours:?} {theirs:?}");
        }
        assert_eq!([bytes(-1.0), bytes(0.0)], [MAGMA[0]; 2]);
        assert_eq!(
            [bytes(1.0), bytes(f32::INFINITY), bytes(f32::NAN)],
            [MAGMA[16]; 3]
        );
        let luminance =
            |color: &[u8; 3]| Vec3::from_array(color.map(f32::from)).dot(Vec3::new(0.2126, 0.7152, 0.0722));
        assert!(MAGMA.is_sorted_by(|a, b| luminance(a) < luminance(b)));
    }

    const MATPLOTLIB: [(u8, [u8; 3]); 4] = [
        (23, [18, 13, 49]),
        (103, [142, 42, 129]),
        (151, [219, 71, 106]),
        (247, [252, 238, 176]),
    ];
}
