//! CPU reference of `temporal`, in f64: averages frames with jittered sample positions.

use super::tonemap::{srgb_decode, srgb_encode};
use canopy_render::layout::{
    TEMPORAL_FORGETTING, TEMPORAL_MEMORY, TEMPORAL_OTHER_COLORS, TEMPORAL_SAMPLES, TEMPORAL_SLOPE,
};

use glam::{DVec2, DVec4};

/// Pixel of a frame.
#[derive(Debug, Clone, Copy)]
pub struct Pixel {
    /// Colour, sRGB-encoded, and coverage.
    pub encoded: DVec4,
    /// Depth along the view in metres, infinite on the background.
    pub depth: f64,
    /// Motion since the last frame, in pixels of the frame.
    pub moved: DVec2,
}

/// Displayed pixel of the mean.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mean {
    /// Linear colour, and coverage.
    pub color: DVec4,
    /// Number of samples in the mean.
    pub samples: f64,
    /// Minimum and maximum luma, chroma and coverage of the clamping box.
    pub colors: [DVec4; 2],
}

/// Picture, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, T> {
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Pixels of the picture.
    pub pixels: &'a [T],
}

impl<T: Copy> Rows<'_, T> {
    /// Returns the pixel at a position, clamped to the picture.
    fn at(&self, [x, y]: [i64; 2]) -> T {
        let [width, height] = self.size.map(i64::from);
        self.pixels[(y.clamp(0, height - 1) * width + x.clamp(0, width - 1)) as usize]
    }
}

fn ycocg(c: DVec4) -> DVec4 {
    let luma = 0.25 * c.x + 0.5 * c.y + 0.25 * c.z;
    DVec4::new(luma, 0.5 * (c.x - c.z), 0.5 * (c.y - 0.5 * (c.x + c.z)), c.w)
}

fn from_ycocg(c: DVec4) -> DVec4 {
    let middle = c.x - c.z;
    DVec4::new(middle + c.y, c.x + c.z, middle - c.y, c.w)
}

fn of_colors(color: DVec4, f: impl Fn(f64) -> f64) -> DVec4 {
    DVec4::new(f(color.x), f(color.y), f(color.z), color.w)
}

/// Returns the weights of four neighbours by the cubics of Keys (1981), at a distance of `f` from the second.
/// A slope of 0.5 gives Catmull-Rom.
pub(super) fn cubic(f: f64, slope: f64) -> [f64; 4] {
    let spline = |x: f64| match x.abs() {
        x if x < 1.0 => (2.0 - slope) * x.powi(3) - (3.0 - slope) * x * x + 1.0,
        x => -slope * (x.powi(3) - 5.0 * x * x + 8.0 * x - 4.0),
    };
    [1.0 + f, f, 1.0 - f, 2.0 - f].map(spline)
}

/// Quantises to eight bits.
fn stored(color: DVec4) -> DVec4 {
    let offset = DVec4::new(0.0, 0.5, 0.5, 0.0);
    (255.0 * (color + offset).clamp(DVec4::ZERO, DVec4::ONE)).round() / 255.0 - offset
}

/// Returns the mean at `at`, in pixels from the picture's corner, filtered bicubically without the corners of
/// the 4 × 4 pixels.
fn resampled(last: &Rows<'_, Mean>, at: DVec2) -> DVec4 {
    let corner = (at - 0.5).floor();
    let [across, down] = (at - 0.5 - corner).to_array().map(|f| cubic(f, TEMPORAL_SLOPE));
    let (mut sum, mut weights) = (DVec4::ZERO, 0.0);
    for (y, down) in (-1..).zip(down) {
        for (x, across) in (-1..).zip(across) {
            let is_inner = |step: i64| step == 0 || step == 1;
            if is_inner(x) || is_inner(y) {
                let tap = last.at([corner.x as i64 + x, corner.y as i64 + y]);
                sum += across * down * tap.color;
                weights += across * down;
            }
        }
    }
    (sum / weights).clamp(DVec4::ZERO, DVec4::ONE)
}

/// Returns the mean after `frame`, with `shown` pixels. It is blended into `last`, the mean of the last
/// frame, if there is one. `jitter` is the frame's sample offset from pixel centres in pixels. Assumes that
/// no frame has disocclusions.
pub fn temporal(
    frame: &Rows<'_, Pixel>,
    jitter: DVec2,
    last: Option<&Rows<'_, Mean>>,
    shown: [u32; 2],
) -> Vec<Mean> {
    let size = |size: [u32; 2]| DVec2::new(size[0].into(), size[1].into());
    let scale = size(frame.size) / size(shown);
    let fineness = scale.min_element();
    let (sharpness, blurring) = (2.4 + 1.8 * fineness, 14.0 - 8.0 * fineness);
    let pixel = |index: u32| {
        let at = DVec2::new((index % shown[0]).into(), (index / shown[0]).into()) + 0.5;
        let sampled_at = at * scale - jitter;
        let middle = [sampled_at.x.floor() as i64, sampled_at.y.floor() as i64];
        let taps: Vec<(DVec2, Pixel)> = (0..9)
            .map(|i| {
                let tap = [middle[0] + i % 3 - 1, middle[1] + i / 3 - 1];
                let inside = [0, 1].map(|axis| tap[axis].clamp(0, i64::from(frame.size[axis]) - 1));
                let place = DVec2::new(inside[0] as f64, inside[1] as f64) + 0.5;
                ((place - sampled_at) / scale, frame.at(tap))
            })
            .collect();
        let (mut encoded, mut weights) = (DVec4::ZERO, 0.0);
        let (mut smoothed, mut smooth_weights) = (DVec4::ZERO, 0.0);
        let (mut least, mut most) = (DVec4::INFINITY, DVec4::NEG_INFINITY);
        let mut nearest = taps[4].1;
        for (off, seen) in &taps {
            let weight = (-sharpness * off.length_squared()).exp();
            encoded += weight * seen.encoded;
            weights += weight;
            // Without a mean, filters with a Gaussian of half a pixel of the frame.
            let smooth_weight = (-2.0 * (*off * scale).length_squared()).exp();
            smoothed += smooth_weight * seen.encoded;
            smooth_weights += smooth_weight;
            let compared = ycocg(seen.encoded);
            (least, most) = (least.min(compared), most.max(compared));
            if seen.depth < nearest.depth && (*off * scale).abs().max_element() <= 1.0 {
                nearest = *seen;
            }
        }
        let now = |samples: f64| {
            let sharp = encoded / weights;
            let share = samples.clamp(0.0, 1.0);
            of_colors((smoothed / smooth_weights).lerp(sharp, share), srgb_decode)
        };
        let weight = weights.clamp(1e-3, 1.0);
        let last_at = at - nearest.moved / scale;
        let inside = last_at.cmpge(DVec2::ZERO).all() && last_at.cmplt(size(shown)).all();
        let Some(last) = last.filter(|_| inside) else {
            return Mean {
                color: now(0.0),
                samples: weight,
                colors: [least, most].map(stored),
            };
        };
        let before = last.at([last_at.x as i64, last_at.y as i64]);
        let apart = (before.colors[0] - most).max(least - before.colors[1]);
        // Quantisation to eight bits stays below a tenth.
        let other = (apart.max_element() / TEMPORAL_OTHER_COLORS - 0.1) / 0.9;
        let other = other.clamp(0.0, 1.0);
        let same = 1.0 - other * other * (3.0 - 2.0 * other);
        let low = least.min(least.lerp(before.colors[0], TEMPORAL_MEMORY * same));
        let high = most.max(most.lerp(before.colors[1], TEMPORAL_MEMORY * same));
        let (middle, reach) = (0.5 * (low + high), 0.5 * (high - low) + 1e-3);
        let compared = ycocg(of_colors(resampled(last, last_at), srgb_encode));
        let farthest = ((compared - middle) / reach).abs().max_element().max(1.0);
        let confined = from_ycocg(middle + (compared - middle) / farthest);
        let kept = of_colors(confined.clamp(DVec4::ZERO, DVec4::ONE), srgb_decode);
        let between = (last_at - 0.5) - (last_at - 0.5).floor();
        let blur = 2.0 * (between * (1.0 - between)).max_element().sqrt();
        let counted = before.samples.min(TEMPORAL_SAMPLES / (1.0 + blurring * blur));
        let samples = same * counted / (1.0 + TEMPORAL_FORGETTING * (farthest - 1.0));
        Mean {
            color: kept.lerp(now(samples), weight / (weight + samples)),
            samples: samples + weight,
            colors: [low, high].map(stored),
        }
    };
    (0..shown[0] * shown[1]).map(pixel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A static picture is preserved for any jitter, and a step edge stays as sharp as its pixels.
    #[test]
    fn the_history_mean_of_equal_frames_equals_the_frame() {
        let gray = DVec4::new(0.2, 0.5, 0.7, 1.0);
        let pixels: Vec<_> = (0..48)
            .map(|i| Pixel {
                encoded: if i % 8 < 4 { gray } else { DVec4::W },
                depth: 1.0,
                moved: DVec2::ZERO,
            })
            .collect();
        let frame = Rows {
            size: [8, 6],
            pixels: &pixels,
        };
        let mut mean = temporal(&frame, DVec2::ZERO, None, [8, 6]);
        for _ in 0..20 {
            let last = Rows {
                size: [8, 6],
                pixels: &mean,
            };
            mean = temporal(&frame, DVec2::ZERO, Some(&last), [8, 6]);
        }
        assert!((mean[0].samples - 13.0).abs() < 1e-9);
        assert!((of_colors(mean[1].color, srgb_encode) - gray).abs().max_element() < 1e-12);
        assert!((mean[6].color - DVec4::W).abs().max_element() < 1e-12);
    }

    #[test]
    fn ycocg_conversion_round_trips() {
        let color = DVec4::new(0.1, 0.9, 0.4, 0.5);
        assert!((from_ycocg(ycocg(color)) - color).abs().max_element() < 1e-15);
    }
}
