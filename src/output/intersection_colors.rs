//! Colours of triangles that intersect others, and of all other triangles.

use glam::Vec3;

/// Colour of an intersecting triangle that faces the camera, sRGB-encoded. This orange is brighter than all
/// of the greys, so that it can be told apart with all kinds of colour vision.
pub const THROUGH: [u8; 3] = [255, 153, 0];
/// Brightness of [`THROUGH`] at grazing angles, relative to its brightness at normal incidence.
const THROUGH_AT_EDGES: f32 = 0.75;
/// sRGB-encoded grey of all other triangles, at grazing and at normal incidence.
const GREY: [f32; 2] = [0.14, 0.50];

/// Returns the colour of a surface, as sRGB-encoded values from 0 to 1. `facing` is 0 at grazing angles and 1
/// for a surface that faces the camera.
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

    /// Computes the relative luminance of an sRGB colour (WCAG 2.2).
    fn luminance(color: Vec3) -> f32 {
        let linear = color.map(|c| ((c + 0.055) / 1.055).powf(2.4));
        linear.dot(Vec3::new(0.2126, 0.7152, 0.0722))
    }

    /// Without colour vision, orange and grey only differ in brightness.
    #[test]
    fn intersecting_parts_are_brighter_than_any_grey() {
        let darkest = luminance(color(true, 0.0));
        let brightest = luminance(color(false, 1.0));
        assert!(darkest > brightest, "{darkest} {brightest}");
        // Adjacent triangles have about the same angle to the camera.
        for step in 0..=4_u8 {
            let facing = f32::from(step) / 4.0;
            let [through, other] = [true, false].map(|is| luminance(color(is, facing)) + 0.05);
            assert!(through / other > 1.8, "{facing}: {through} {other}");
        }
        assert_eq!(color(true, 1.0), Vec3::new(1.0, 0.6, 0.0));
        assert_eq!(color(false, f32::INFINITY), Vec3::splat(0.50));
    }
}
