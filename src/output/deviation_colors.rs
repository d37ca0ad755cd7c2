//! Colour map of signed distances.

use glam::Vec3;

/// Diverging map from blue over grey to red in equal steps of lightness, readable with all kinds of colour
/// vision (Moreland 2009, "Diverging Color Maps for Scientific Visualization"). Colours are sRGB-encoded and
/// evenly spaced over the range.
pub const DIVERGING: [[u8; 3]; 9] = [
    [59, 76, 192],
    [98, 130, 234],
    [141, 176, 254],
    [184, 208, 249],
    [221, 221, 221],
    [245, 196, 173],
    [244, 154, 123],
    [222, 96, 77],
    [180, 4, 38],
];
/// Colour of values below the range, darker than the whole map.
pub const BELOW: [u8; 3] = [38, 0, 66];
/// Colour of values above the range, with a hue that is not in the map.
pub const ABOVE: [u8; 3] = [255, 214, 0];

/// Returns the colour of a distance as sRGB-encoded values from 0 to 1. `share` is the distance divided by
/// the end of the range, from −1 to 1. Values beyond have colours of their own.
pub fn color(share: f32) -> Vec3 {
    if share < -1.0 {
        return encoded(BELOW);
    }
    if share > 1.0 {
        return encoded(ABOVE);
    }
    interpolate(&DIVERGING, 0.5 * share + 0.5)
}

/// Interpolates between evenly spaced colours, of which there must be at least two. `share` is from 0 to 1,
/// and so is the result.
pub(super) fn interpolate(colors: &[[u8; 3]], share: f32) -> Vec3 {
    let last = colors.len() - 1;
    let at = share * last as f32;
    let step = (at as usize).min(last - 1);
    let [from, to] = [colors[step], colors[step + 1]].map(encoded);
    from.lerp(to, at - step as f32)
}

fn encoded(color: [u8; 3]) -> Vec3 {
    Vec3::from_array(color.map(f32::from)) / 255.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_map_is_grey_at_zero_and_marks_out_of_range_values() {
        let bytes = |share| color(share).to_array().map(|c| (c * 255.0).round() as u8);
        assert_eq!(bytes(0.0), [221; 3]);
        assert_eq!([bytes(-1.0), bytes(1.0)], [DIVERGING[0], DIVERGING[8]]);
        assert_eq!([bytes(-1.001), bytes(1.001)], [BELOW, ABOVE]);
        assert_eq!(bytes(0.875), [201, 50, 58]);
        assert!(bytes(f32::NAN).iter().all(|c| *c < 255), "no panic");
    }
}
