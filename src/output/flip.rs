//! LDR-FLIP: perceived difference between two images that alternate in place (Andersson, Nilsson,
//! Akenine-Möller, Oskarsson, Åström and Fairchild 2020, "FLIP: A Difference Evaluator for Alternating
//! Images"). The filters are separable.

use crate::scene::srgb;
use glam::{Mat3, Vec3};
use std::f32::consts::PI;

/// Pixels per degree of visual angle in the paper, for a screen 0.7 m wide with 3840 pixels, seen from 0.7 m.
pub const PIXELS_PER_DEGREE: f32 = 67.020_645;

/// Contrast sensitivity function of a channel (table 1): a sum of Gaussians `a · √(π / b) · exp(−π² x² / b)`,
/// with x in degrees.
type Sensitivity = &'static [[f32; 2]];
const ACHROMATIC: Sensitivity = &[[1.0, 0.0047]];
const RED_GREEN: Sensitivity = &[[1.0, 0.0053]];
const BLUE_YELLOW: Sensitivity = &[[34.1, 0.04], [13.5, 0.025]];
/// Largest `b` of these Gaussians. It sets the radius at which all of them are truncated.
const WIDEST: f32 = 0.04;
/// Exponents of the colour difference and the feature difference.
const COLOR_EXPONENT: f32 = 0.7;
const FEATURE_EXPONENT: f32 = 0.5;
/// Fraction of the maximum colour difference that is mapped to `MAX_OF_SCALE` of the output range.
const COMMON: f32 = 0.4;
const MAX_OF_SCALE: f32 = 0.95;
/// Width of detected features in degrees.
const FEATURE_WIDTH: f32 = 0.082;

/// Computes the error of each pixel, from 0 to 1, between two images of `size`. Channels are sRGB-encoded,
/// from 0 to 1.
pub fn flip(size: [u32; 2], a: &[[f32; 3]], b: &[[f32; 3]], pixels_per_degree: f32) -> Vec<f32> {
    let (filters, to) = (Filters::new(pixels_per_degree), Colors::new());
    let [a, b] = std::thread::scope(|scope| {
        let other = scope.spawn(|| FilteredImage::new(size, a, &filters, &to));
        let b = FilteredImage::new(size, b, &filters, &to);
        // Propagates a panic of the other thread.
        let a = other
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        [a, b]
    });
    let largest = to.largest_difference();
    let colors = a.colors.iter().zip(&b.colors);
    let colors = colors.map(|(a, b)| spread(hyab(*a, *b).powf(COLOR_EXPONENT), largest));
    let features = a.features.iter().zip(&b.features);
    let features = features.map(|(a, b)| {
        let [edge, point] = [0, 1].map(|kind| (a[kind] - b[kind]).abs());
        (edge.max(point) / 2_f32.sqrt()).powf(FEATURE_EXPONENT)
    });
    colors
        .zip(features)
        .map(|(color, feature)| color.powf(1.0 - feature))
        .collect()
}

/// Image after the contrast-sensitivity filter.
struct FilteredImage {
    /// CIELAB colours with the Hunt adjustment.
    colors: Vec<Vec3>,
    /// Gradient magnitudes of edges and of points at each pixel.
    features: Vec<[f32; 2]>,
}

impl FilteredImage {
    fn new(size: [u32; 2], pixels: &[[f32; 3]], filters: &Filters, to: &Colors) -> Self {
        let opponent: Vec<Vec3> = pixels
            .iter()
            .map(|pixel| to.opponent(Vec3::from_array(*pixel).map(srgb::decode)))
            .collect();
        let [y, cx, cz] = [0, 1, 2].map(|c| Plane {
            size,
            values: opponent.iter().map(|color| color[c]).collect(),
        });
        let [resolved_y, resolved_cx, resolved_cz] = [
            y.csf_filtered(&filters.achromatic),
            cx.csf_filtered(&filters.red_green),
            cz.csf_filtered(&filters.blue_yellow),
        ];
        let channels = resolved_y.iter().zip(&resolved_cx).zip(&resolved_cz);
        let colors = channels.map(|((y, cx), cz)| {
            let seen = to.linear(Vec3::new(*y, *cx, *cz));
            hunt(to.lab(seen.clamp(Vec3::ZERO, Vec3::ONE)))
        });
        Self {
            colors: colors.collect(),
            features: features(y, filters),
        }
    }
}

/// Computes the gradient magnitudes of the first and second derivatives of the lightness `y`, after scaling
/// it to 0 to 1.
fn features(mut y: Plane, filters: &Filters) -> Vec<[f32; 2]> {
    y.values.iter_mut().for_each(|y| *y = (*y + 16.0) / 116.0);
    let along = |derivative: &[f32]| {
        let across = y.along_rows(derivative).along_columns(&filters.smooth);
        let down = y.along_rows(&filters.smooth).along_columns(derivative);
        let both = across.values.into_iter().zip(down.values);
        both.map(|(x, y)| x.hypot(y)).collect::<Vec<_>>()
    };
    let [edges, points] = [along(&filters.edge), along(&filters.point)];
    edges
        .into_iter()
        .zip(points)
        .map(|(edge, point)| [edge, point])
        .collect()
}

/// Kernel of a one-dimensional Gaussian, and its weight in the sum of its channel.
type Weighted = (Vec<f32>, f32);

/// One-dimensional kernels, for rows or columns.
struct Filters {
    achromatic: Vec<Weighted>,
    red_green: Vec<Weighted>,
    blue_yellow: Vec<Weighted>,
    /// A Gaussian, its first and its second derivative. The positive samples of a derivative sum to 1, and
    /// the negative samples to −1.
    smooth: Vec<f32>,
    edge: Vec<f32>,
    point: Vec<f32>,
}

impl Filters {
    fn new(pixels_per_degree: f32) -> Self {
        let reach = (3.0 * (WIDEST / (2.0 * PI * PI)).sqrt() * pixels_per_degree).ceil();
        let channel = |gaussians: Sensitivity| {
            let of = |[a, b]: &[f32; 2]| {
                let kernel = sampled(reach, |x| (-(PI * x / pixels_per_degree).powi(2) / b).exp());
                let sum: f32 = kernel.iter().sum();
                (
                    kernel.iter().map(|k| k / sum).collect(),
                    a * (PI / b).sqrt() * sum * sum,
                )
            };
            let mut weighted: Vec<Weighted> = gaussians.iter().map(of).collect();
            let total: f32 = weighted.iter().map(|(_, weight)| weight).sum();
            weighted.iter_mut().for_each(|(_, weight)| *weight /= total);
            weighted
        };
        let deviation = 0.5 * FEATURE_WIDTH * pixels_per_degree;
        let of_features = |kernel: &dyn Fn(f32) -> f32| {
            let gaussian = |x: f32| (-x * x / (2.0 * deviation * deviation)).exp();
            let mut kernel = sampled((3.0 * deviation).ceil(), |x| kernel(x) * gaussian(x));
            let sum = |sign: f32| kernel.iter().map(|k| (sign * k).max(0.0)).sum::<f32>();
            let (above, below) = (sum(1.0), sum(-1.0));
            for k in &mut kernel {
                *k /= if *k > 0.0 {
                    above
                } else {
                    below.max(f32::MIN_POSITIVE)
                };
            }
            kernel
        };
        Self {
            achromatic: channel(ACHROMATIC),
            red_green: channel(RED_GREEN),
            blue_yellow: channel(BLUE_YELLOW),
            smooth: of_features(&|_| 1.0),
            edge: of_features(&|x| -x),
            point: of_features(&|x| (x / deviation).powi(2) - 1.0),
        }
    }
}

/// Samples a function at the integers from −`reach` to `reach`.
fn sampled(reach: f32, function: impl Fn(f32) -> f32) -> Vec<f32> {
    let reach = reach as i32;
    (-reach..=reach).map(|x| function(x as f32)).collect()
}

/// One channel of an image.
struct Plane {
    size: [u32; 2],
    values: Vec<f32>,
}

impl Plane {
    /// Applies the contrast-sensitivity filter of a channel.
    fn csf_filtered(&self, sensitivity: &[Weighted]) -> Vec<f32> {
        let mut sum = vec![0.0; self.values.len()];
        for (kernel, weight) in sensitivity {
            let filtered = self.along_rows(kernel).along_columns(kernel);
            for (sum, value) in sum.iter_mut().zip(filtered.values) {
                *sum += weight * value;
            }
        }
        sum
    }

    /// Convolves rows with a kernel. Pixels outside the image repeat its border.
    fn along_rows(&self, kernel: &[f32]) -> Self {
        let width = self.size[0] as usize;
        let reach = kernel.len() / 2;
        let mut values = vec![0.0; self.values.len()];
        let mut wide = vec![0.0; width + 2 * reach];
        for (row, filtered) in self.values.chunks(width).zip(values.chunks_mut(width)) {
            wide[..reach].fill(row[0]);
            wide[reach..reach + width].copy_from_slice(row);
            wide[reach + width..].fill(row[width - 1]);
            for (k, shifted) in kernel.iter().zip(wide.windows(width)) {
                add_scaled(filtered, shifted, *k);
            }
        }
        Self {
            size: self.size,
            values,
        }
    }

    /// Convolves columns with a kernel. Pixels outside the image repeat its border.
    fn along_columns(&self, kernel: &[f32]) -> Self {
        let [width, height] = self.size.map(|side| side as usize);
        let reach = kernel.len() / 2;
        let mut values = vec![0.0; self.values.len()];
        for (y, filtered) in values.chunks_mut(width).enumerate() {
            for (k, shift) in kernel.iter().zip(0..) {
                let from = (y + shift).saturating_sub(reach).min(height - 1);
                add_scaled(filtered, &self.values[from * width..][..width], *k);
            }
        }
        Self {
            size: self.size,
            values,
        }
    }
}

fn add_scaled(sum: &mut [f32], values: &[f32], factor: f32) {
    for (sum, value) in sum.iter_mut().zip(values) {
        *sum += factor * value;
    }
}

/// Maps a colour difference from 0 to `largest` to the range 0 to 1. Small differences are the most common
/// ones and take most of the range.
fn spread(difference: f32, largest: f32) -> f32 {
    let common = COMMON * largest;
    if difference < common {
        return MAX_OF_SCALE / common * difference;
    }
    MAX_OF_SCALE + (1.0 - MAX_OF_SCALE) * (difference - common) / (largest - common)
}

/// Returns the HyAB distance in CIELAB, for large differences: the difference in lightness plus the distance
/// in chroma (Abasi, Amani Tehran and Fairchild 2020).
fn hyab(a: Vec3, b: Vec3) -> f32 {
    let difference = a - b;
    difference.x.abs() + difference.y.hypot(difference.z)
}

/// Applies the Hunt adjustment: dark colours look less colourful.
fn hunt(lab: Vec3) -> Vec3 {
    let factor = 0.01 * lab.x;
    lab * Vec3::new(1.0, factor, factor)
}

/// Colour space conversions.
struct Colors {
    /// Matrix from linear sRGB to CIE XYZ relative to the white point D65, so that (1, 1, 1) maps to (1, 1,
    /// 1).
    xyz_from_linear: Mat3,
    linear_from_xyz: Mat3,
}

impl Colors {
    fn new() -> Self {
        let xyz = Mat3::from_cols_array_2d(&[
            [0.412_386_56, 0.212_637_06, 0.019_330_62],
            [0.357_591_5, 0.715_183, 0.119_197_16],
            [0.180_450_49, 0.072_180_2, 0.950_372_6],
        ]);
        let xyz_from_linear = Mat3::from_diagonal(1.0 / (xyz * Vec3::ONE)) * xyz;
        Self {
            xyz_from_linear,
            linear_from_xyz: xyz_from_linear.inverse(),
        }
    }

    /// Returns the colour difference of pure green and pure blue, which is the largest in sRGB.
    fn largest_difference(&self) -> f32 {
        let [green, blue] = [Vec3::Y, Vec3::Z].map(|color| hunt(self.lab(color)));
        hyab(green, blue).powf(COLOR_EXPONENT)
    }

    /// Converts linear sRGB to the opponent space YCxCz, which is CIELAB without the cube root.
    fn opponent(&self, linear: Vec3) -> Vec3 {
        let [x, y, z] = (self.xyz_from_linear * linear).to_array();
        Vec3::new(116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z))
    }

    /// Converts YCxCz to linear sRGB, the inverse of [`Colors::opponent`].
    fn linear(&self, opponent: Vec3) -> Vec3 {
        let y = (opponent.x + 16.0) / 116.0;
        self.linear_from_xyz * Vec3::new(y + opponent.y / 500.0, y, y - opponent.z / 200.0)
    }

    /// Converts linear sRGB to CIELAB.
    fn lab(&self, linear: Vec3) -> Vec3 {
        const DELTA: f32 = 6.0 / 29.0;
        let root = (self.xyz_from_linear * linear).map(|t| {
            if t > DELTA.powi(3) {
                t.cbrt()
            } else {
                t / (3.0 * DELTA * DELTA) + 4.0 / 29.0
            }
        });
        let [x, y, z] = root.to_array();
        Vec3::new(116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z))
    }
}
