//! Error metrics between two pictures.

use super::flip::flip;
use crate::scene::picture::Picture;

/// Error metric for a pair of pictures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Metric {
    /// Root mean square of the differences of all channels.
    Rmse,
    /// Perceived difference, from 0 to 1, for sRGB-encoded pictures. See [`flip`].
    Flip {
        /// Pixels per degree of visual angle.
        pixels_per_degree: f32,
    },
}

/// Error between two pictures of the same size.
#[derive(Debug, Clone, PartialEq)]
pub struct PictureError {
    /// Error of each pixel, row by row.
    pub pixels: Vec<f32>,
    /// Mean of the pixel errors for FLIP, or their root mean square for RMSE.
    pub mean: f64,
    /// Largest error of a pixel.
    pub max: f32,
    /// Column and row of the first pixel with the largest error.
    pub max_at: [u32; 2],
    /// Fraction of pixels that differ at all, 0 to 1.
    pub differing: f64,
}

impl PictureError {
    /// Computes the error between `a` and `b`, which must have the same size. A channel that is NaN in only
    /// one picture has an infinite error under RMSE. A channel that is NaN in both has no error.
    pub fn new(metric: Metric, a: &Picture, b: &Picture) -> Self {
        let plain = a.pixels.iter().zip(&b.pixels);
        let plain: Vec<f32> = plain.map(|(a, b)| root_mean_square(*a, *b)).collect();
        let count = plain.len().max(1) as f64;
        let differing = plain.iter().filter(|error| **error > 0.0).count() as f64 / count;
        let mean_of = |errors: &[f32], power: i32| {
            let sum: f64 = errors.iter().map(|e| f64::from(*e).powi(power)).sum();
            sum / count
        };
        let (pixels, mean) = match metric {
            Metric::Rmse => {
                let mean = mean_of(&plain, 2).sqrt();
                (plain, mean)
            }
            Metric::Flip { pixels_per_degree } => {
                let errors = flip(a.size, &a.pixels, &b.pixels, pixels_per_degree);
                let mean = mean_of(&errors, 1);
                (errors, mean)
            }
        };
        let max = pixels.iter().copied().fold(0.0, f32::max);
        let first = pixels.iter().position(|error| *error == max).unwrap_or(0) as u32;
        Self {
            pixels,
            mean,
            max,
            max_at: [first % a.size[0], first / a.size[0]],
            differing,
        }
    }
}

/// Returns the root mean square over the channels of a pixel.
fn root_mean_square(a: [f32; 3], b: [f32; 3]) -> f32 {
    let square = |(a, b): (f32, f32)| {
        let difference = f64::from(a) - f64::from(b);
        match a == b || a.is_nan() && b.is_nan() {
            true => 0.0,
            false if difference.is_finite() => difference * difference,
            false => f64::INFINITY,
        }
    };
    (a.into_iter().zip(b).map(square).sum::<f64>() / 3.0).sqrt() as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, pixels: &[[f32; 3]]) -> Picture {
        Picture {
            size: [width, pixels.len() as u32 / width],
            pixels: pixels.to_vec(),
            is_linear: true,
        }
    }

    #[test]
    fn rmse_is_computed_per_pixel_and_over_all() {
        let a = picture(2, &[[0.0; 3], [1.0; 3], [0.5; 3], [0.25, 0.5, 0.75]]);
        let mut b = a.clone();
        assert_eq!(PictureError::new(Metric::Rmse, &a, &b).max, 0.0);
        b.pixels[2] = [0.5, 0.5, 0.8];
        b.pixels[3] = [0.25, 0.9, 0.45];
        let found = PictureError::new(Metric::Rmse, &a, &b);
        let expected = [0.0, 0.0, (0.09_f32 / 3.0).sqrt(), (0.25_f32 / 3.0).sqrt()];
        let near = found
            .pixels
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near, "{:?}", found.pixels);
        assert!((found.mean - (0.34_f64 / 12.0).sqrt()).abs() < 1e-6, "{found:?}");
        assert_eq!((found.max_at, found.differing), ([1, 1], 0.5));
    }

    #[test]
    fn nan_in_only_one_image_is_an_infinite_error() {
        let a = picture(3, &[[f32::NAN; 3], [f32::INFINITY; 3], [1.0; 3]]);
        let same = PictureError::new(Metric::Rmse, &a, &a);
        assert_eq!((same.mean, same.differing), (0.0, 0.0));
        let mut b = a.clone();
        b.pixels[0] = [1.0; 3];
        let found = PictureError::new(Metric::Rmse, &a, &b);
        assert_eq!((found.max, found.max_at), (f32::INFINITY, [0, 0]));
        assert_eq!(found.mean, f64::INFINITY);
    }
}
