//! Colours of triangles that pass through others, and of those that do not.

use glam::Vec3;

/// Of a triangle that passes through another one and faces the camera: orange, brighter than all that is grey, so that
/// all kinds of colour vision tell them apart. sRGB-encoded.
pub const THROUGH: [u8; 3] = [255, 153, 0];
/// The share of it that is left at a surface's edge, as it is seen.
const THROUGH_AT_EDGES: f32 = 0.75;
/// The grey of all others, at edges and in the middle.
const GREY: [f32; 2] = [0.14, 0.50];

/// The colour of a surface that faces the camera as far as `facing` says, from 0 to 1; sRGB-encoded from 0 to 1.
pub fn color(is_through: bool, facing: f32) -> Vec3 {
    let facing = facing.clamp(0.0, 1.0);
    if is_through {
        let bright = THROUGH_AT_EDGES + (1.0 - THROUGH_AT_EDGES) * facing;
        return bright * Vec3::from_array(THROUGH.map(f32::from)) / 255.0;
    }
    Vec3::splat(GREY[0] + (GREY[1] - GREY[0]) * facing)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of sRGB (WCAG 2.2).
    fn luminance(color: Vec3) -> f32 {
        let linear = color.map(|c| ((c + 0.055) / 1.055).powf(2.4));
        linear.dot(Vec3::new(0.2126, 0.7152, 0.0722))
    }

    /// Those who see no colours at all need a contrast.
    #[test]
    fn what_passes_through_is_brighter_than_all_grey() {
        let darkest = luminance(color(true, 0.0));
        let brightest = luminance(color(false, 1.0));
        assert!(darkest > brightest, "{darkest} {brightest}");
        // Side by side both face the camera alike.
        for step in 0..=4_u8 {
            let facing = f32::from(step) / 4.0;
            let [through, other] = [true, false].map(|is| luminance(color(is, facing)) + 0.05);
            assert!(through / other > 1.8, "{facing}: {through} {other}");
        }
        assert_eq!(color(true, 1.0), Vec3::new(1.0, 0.6, 0.0));
        assert_eq!(color(false, f32::INFINITY), Vec3::splat(0.50));
    }
}
