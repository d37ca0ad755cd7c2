//! CPU reference of `noise`, in f64 and without a histogram.

use super::tonemap::srgb_encode;

/// Returns the 95th percentile over pixels of the standard error of the mean of `frames` frames, in displayed
/// levels of 255. Both pictures are sums of linear light, and `before` is the sum of the first
/// `frames_before` frames.
pub fn levels([shown, before]: [&[[f32; 4]]; 2], [frames, frames_before]: [u32; 2]) -> f64 {
    let [n, m] = [frames, frames_before].map(f64::from);
    let displayed = |sum: &[f32; 4], frames: f64| {
        let [r, g, b, a] = sum.map(|sum| f64::from(sum) / frames);
        [srgb_encode(r), srgb_encode(g), srgb_encode(b), a]
    };
    let error = |(sum, sum_before): (&[f32; 4], &[f32; 4])| {
        let [now, then] = [displayed(sum, n), displayed(sum_before, m)];
        let change = now.iter().zip(then).map(|(now, then)| (now - then).abs());
        255.0 * (m / (n - m)).sqrt() * change.fold(0.0, f64::max)
    };
    let mut errors: Vec<f64> = shown.iter().zip(before).map(error).collect();
    errors.sort_by(f64::total_cmp);
    let below = (errors.len() * 19).div_ceil(20);
    errors[below.max(1) - 1]
}
