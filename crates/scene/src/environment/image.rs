//! Decoded environment images.

use super::texels::{Rows, cube_row_weights, latitude_weight};
use glam::{DVec3, Vec3};
use half::f16;
use std::f64::consts::PI;

/// Radiance from every direction.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvironmentImage {
    /// File name, without the folder.
    pub name: String,
    /// Mapping from directions to texels.
    pub shape: Shape,
    /// Number of texels in a row.
    pub width: u32,
    /// Number of rows. In a cube map, the rows of its six faces follow one another.
    pub height: u32,
    /// Red, green, blue and 1. Multiplied by `scale` they are radiance. All are finite and not negative.
    pub texels: Vec<[f16; 4]>,
    /// Factor of all texels, a power of two.
    pub scale: f32,
    /// Sun that [`EnvironmentImage::take_sun`] has removed from the texels.
    pub sun: Option<Sun>,
    /// Warnings about the file, one line each, with its name.
    pub warnings: Vec<String>,
}

/// Mapping from the directions of an environment to its texels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Longitude to the right, latitude down.
    Equirectangular,
    /// Cube map: six square faces.
    Cube,
}

/// Sun of an environment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sun {
    /// Unit vector towards the sun, in the axes of the environment.
    pub to_sun: Vec3,
    /// Illuminance of a surface that faces the sun.
    pub illuminance: Vec3,
    /// Angular radius in radians. It is the radius of a uniform disc with twice the solid angle that holds
    /// the inner half of the sun's light.
    pub radius: f32,
}

impl EnvironmentImage {
    /// Returns the mean luminance that lights the scene. `mean` is the mean luminance of the sphere. The
    /// file's sun is subtracted if another sun replaces it.
    pub fn lighting_luminance(&self, mean: f32, replaces_sun: bool) -> f32 {
        match self.sun {
            Some(sun) if replaces_sun => {
                let of_sun = luminance(sun.illuminance.as_dvec3()) / (4.0 * PI);
                (mean - of_sun as f32).max(0.0)
            }
            _ => mean,
        }
    }

    /// Returns the mean luminance over the sphere, with the primaries of ITU-R BT.709. It includes the sun if
    /// it was removed from the texels.
    pub fn mean_luminance(&self) -> f32 {
        let of_texel = |[red, green, blue, _]: &[f16; 4]| {
            0.2126 * f64::from(*red) + 0.7152 * f64::from(*green) + 0.0722 * f64::from(*blue)
        };
        let width = self.width.max(1) as usize;
        let (mut sum, mut weights) = (0.0, 0.0);
        let rows = self.texels.chunks_exact(width);
        match self.shape {
            Shape::Equirectangular => {
                for (y, row) in rows.enumerate() {
                    let weight = latitude_weight(y as u32, self.height);
                    sum += weight * row.iter().map(of_texel).sum::<f64>();
                    weights += weight * width as f64;
                }
            }
            Shape::Cube => {
                let mut weight = Vec::new();
                for y in 0..width {
                    cube_row_weights(self.width, y as u32, &mut weight);
                    for row in rows.clone().skip(y).step_by(width) {
                        let texels = row.iter().zip(&weight);
                        sum += texels.map(|(texel, w)| w * of_texel(texel)).sum::<f64>();
                        weights += weight.iter().sum::<f64>();
                    }
                }
            }
        }
        let mean = sum / f64::max(weights, f64::MIN_POSITIVE) * f64::from(self.scale);
        let sun = self.sun.map_or(0.0, |sun| luminance(sun.illuminance.into()));
        (mean + sun / (4.0 * PI)) as f32
    }
}

/// Fails before anything is decoded if an image, or its `faces` together, have no pixels or too many.
pub(super) fn check_size([width, height]: [u32; 2], faces: u64, max_pixels: u64) -> Result<(), String> {
    let pixels = (u64::from(width) * u64::from(height)).saturating_mul(faces);
    if pixels == 0 {
        return Err("holds no pixels".into());
    }
    if pixels > max_pixels {
        let times = if faces > 1 {
            format!("{faces}×")
        } else {
            String::new()
        };
        return Err(format!(
            "{times}{width}×{height} pixels are more than load.max_environment_pixels allows ({max_pixels})"
        ));
    }
    Ok(())
}

/// Returns a warning if an image is not twice as wide as high, within a texel or a tenth of its height. It
/// may not be equirectangular but a part of the sphere, a cross of cube faces or a mirror ball.
pub(super) fn odd_sides([width, height]: [u32; 2]) -> Option<String> {
    let off = u64::from(width).abs_diff(2 * u64::from(height));
    (off > u64::from(height / 10).max(1)).then(|| {
        format!(
            "is {width}×{height} pixels; an equirectangular picture is twice as wide as high, and this one \
             is stretched over the whole sphere"
        )
    })
}

/// Builds the environment when all rows have been added. Its name is set later.
pub(super) fn image(shape: Shape, rows: Rows) -> EnvironmentImage {
    let ([width, height], (texels, scale)) = (rows.size(), rows.into_halves());
    EnvironmentImage {
        name: String::new(),
        shape,
        width,
        height: if shape == Shape::Cube { 6 * height } else { height },
        texels,
        scale,
        sun: None,
        warnings: Vec::new(),
    }
}

/// Returns the luminance of a linear Rec. 709 colour.
pub(super) fn luminance(color: DVec3) -> f64 {
    color.dot(DVec3::new(0.2126, 0.7152, 0.0722))
}
