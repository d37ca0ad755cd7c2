//! CPU reference of `exposure`, with an integer histogram and f64 elsewhere.

use canopy_render::layout::{
    EXPOSURE_BIN_SHIFT, EXPOSURE_BINS, EXPOSURE_MIN_BITS, Exposure, ExposureBin, ExposureParams,
};

/// Returns the histogram of a picture's radiance, whose channels are half floats.
pub fn histogram(texels: &[[f32; 4]]) -> Vec<ExposureBin> {
    let mut bins = vec![(0, 0u64); EXPOSURE_BINS as usize];
    for [r, g, b, _] in texels {
        let luminance = (r * 871.0 + g * 2929.0 + b * 296.0) / 4096.0;
        let brightest = f32::from_bits(65536f32.to_bits() - 1);
        let least = f32::from_bits(EXPOSURE_MIN_BITS);
        // Also rejects NaN.
        if luminance >= least {
            let bits = luminance.min(brightest).to_bits() - EXPOSURE_MIN_BITS;
            let (count, sum) = &mut bins[(bits >> EXPOSURE_BIN_SHIFT) as usize];
            *count += 1;
            *sum += u64::from(bits % (1 << EXPOSURE_BIN_SHIFT));
        }
    }
    let bin = |(count, sum)| ExposureBin {
        count,
        sum_low: sum as u32,
        sum_high: (sum >> 32) as u32,
    };
    bins.into_iter().map(bin).collect()
}

/// Returns the exposure after a frame with this histogram that was drawn with the exposure `used`.
pub fn exposure(params: &ExposureParams, bins: &[ExposureBin], used: Exposure) -> Exposure {
    let total: u64 = bins.iter().map(|bin| u64::from(bin.count)).sum();
    let (low, high) = (
        f64::from(params.low) * total as f64,
        f64::from(params.high) * total as f64,
    );
    let (mut stops, mut weights, mut before) = (0.0, 0.0, 0.0);
    for (number, bin) in (0..).zip(bins).filter(|(_, bin)| bin.count > 0) {
        let count = f64::from(bin.count);
        let weight = ((before + count).min(high) - before.max(low)).max(0.0);
        before += count;
        let sum = f64::from(bin.sum_high) * 2f64.powi(32) + f64::from(bin.sum_low);
        let fraction = sum / count / f64::from(1 << EXPOSURE_BIN_SHIFT);
        let mantissa = 1.0 + (f64::from(number % 8) + fraction) / 8.0;
        stops += weight * (f64::from(number / 8) - 16.0 + mantissa.log2());
        weights += weight;
    }
    let wanted = if weights > 0.0 {
        0.18f64.log2() - stops / weights + f64::from(params.compensation)
    } else {
        params.fallback.into()
    };
    let target = wanted.clamp(params.min_ev.into(), params.max_ev.into());
    let way = target - f64::from(used.ev);
    let nearer = f64::from(used.ev) + f64::from(params.share) * way;
    // The adaptation ends within a hundredth of a stop, which is invisible, or when a step is too small for
    // f32.
    let stands = nearer as f32 == used.ev && params.share > 0.0;
    let ev = if params.share >= 1.0 || way.abs() < 0.01 || stands {
        target
    } else {
        nearer
    };
    Exposure {
        scale: ev.exp2() as f32,
        ev: ev as f32,
        target_ev: target as f32,
    }
}
