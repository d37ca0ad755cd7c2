// exposure: meters the picture's luminance and adapts the exposure to it.
//
// exposure_histogram: one thread per 16 pixels
// in   hdr: all pixels, including the background; bins all zero
// out  bins: pixels by the logarithm of their luminance, eight bins per stop. Each bin also sums the positions of its
//      pixels within the bin. Black and NaN pixels are left out; infinite ones count as the brightest.
// Bins are derived from the bits of floats whose arithmetic is exact, and all sums are integers. They are the same on
// every adapter, in any order. Workgroups share data only through atomicAdd.
//
// exposure: one workgroup with one thread per bin
// in   bins
// out  used: an exposure that maps the mean log luminance between two percentiles to middle grey (Reinhard et al. 2002,
//      "Photographic Tone Reproduction for Digital Images", with a trimmed mean); always finite
#import "picture/exposure_params.wgsl"

struct ExposureBin {
    count: atomic<u32>,
    // Sum of the positions within the bin, in units of 2^-EXPOSURE_BIN_SHIFT of the bin: low word and high word.
    sum_low: atomic<u32>,
    sum_high: atomic<u32>,
}

struct ExposureParams {
    // Lower and upper percentile of the metered pixels, as fractions.
    low: f32,
    high: f32,
    // Exposure compensation in stops.
    compensation: f32,
    // Minimum and maximum exposure in stops.
    min_ev: f32,
    max_ev: f32,
    // Exposure of a black picture in stops.
    fallback: f32,
    // Fraction of the remaining difference that the exposure adapts by in this frame; 1 adapts at once.
    share: f32,
}

@group(0) @binding(0) var<uniform> params: ExposureParams;
@group(0) @binding(1) var hdr_texture: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> bins: array<ExposureBin>;
@group(0) @binding(3) var<storage, read_write> used: Exposure;

// Adaptation ends at this difference in stops, which is invisible.
const ADAPTED = 0.01;

var<workgroup> counts: array<atomic<u32>, EXPOSURE_BINS>;
var<workgroup> sums: array<atomic<u32>, EXPOSURE_BINS>;

// Returns the bits of the luminance, minus the bits of the minimum luminance that counts. At least EXPOSURE_BINS <<
// EXPOSURE_BIN_SHIFT for black and NaN. The weights are Rec. 709's in 4096ths. Their products with half floats are
// exact in f32, so a fused multiply-add gives the same sum.
fn luminance_bits(color: vec3f) -> u32 {
    let weighted = color * vec3f(871.0, 2929.0, 296.0) / 4096.0;
    let bits = bitcast<u32>((weighted.r + weighted.g) + weighted.b);
    let last = EXPOSURE_MIN_BITS + (EXPOSURE_BINS << EXPOSURE_BIN_SHIFT) - 1u;
    // Infinity still counts as a number. NaN does not.
    return select(bits, min(bits, last), bits <= 0x7f800000u) - EXPOSURE_MIN_BITS;
}

@compute @workgroup_size(EXPOSURE_BINS)
fn exposure_histogram(@builtin(workgroup_id) workgroup: vec3u, @builtin(local_invocation_index) thread: u32) {
    atomicStore(&counts[thread], 0u);
    atomicStore(&sums[thread], 0u);
    workgroupBarrier();
    let size = textureDimensions(hdr_texture);
    let first = EXPOSURE_TILE * workgroup.xy + vec2u(thread % EXPOSURE_TILE, thread / EXPOSURE_TILE);
    for (var row = 0u; row < EXPOSURE_TILE; row += EXPOSURE_BINS / EXPOSURE_TILE) {
        let pixel = first + vec2u(0u, row);
        if any(pixel >= size) {
            continue;
        }
        let bits = luminance_bits(textureLoad(hdr_texture, pixel, 0).rgb);
        let bin = bits >> EXPOSURE_BIN_SHIFT;
        if bin < EXPOSURE_BINS {
            atomicAdd(&counts[bin], 1u);
            // A sum over 64 · 64 pixels of 20 bits fits in 32 bits.
            atomicAdd(&sums[bin], bits & ((1u << EXPOSURE_BIN_SHIFT) - 1u));
        }
    }
    workgroupBarrier();
    let count = atomicLoad(&counts[thread]);
    if count > 0u {
        let sum = atomicLoad(&sums[thread]);
        atomicAdd(&bins[thread].count, count);
        let before = atomicAdd(&bins[thread].sum_low, sum);
        // The low word overflowed.
        if before + sum < before {
            atomicAdd(&bins[thread].sum_high, 1u);
        }
    }
}

// Inclusive prefix sum of the bins' counts.
var<workgroup> up_to: array<u32, EXPOSURE_BINS>;
// Sums of weighted stops and of weights.
var<workgroup> weighed: array<vec2f, EXPOSURE_BINS>;

@compute @workgroup_size(EXPOSURE_BINS)
fn exposure(@builtin(local_invocation_index) bin: u32) {
    let count = atomicLoad(&bins[bin].count);
    up_to[bin] = count;
    workgroupBarrier();
    for (var reach = 1u; reach < EXPOSURE_BINS; reach *= 2u) {
        let before = select(0u, up_to[max(bin, reach) - reach], bin >= reach);
        workgroupBarrier();
        up_to[bin] += before;
        workgroupBarrier();
    }
    let total = f32(up_to[EXPOSURE_BINS - 1u]);
    let past = up_to[bin];
    let weight = max(min(f32(past), params.high * total) - max(f32(past - count), params.low * total), 0.0);
    let sum = f32(atomicLoad(&bins[bin].sum_high)) * 4294967296.0 + f32(atomicLoad(&bins[bin].sum_low));
    let mean_fraction = sum / (f32(max(count, 1u)) * f32(1u << EXPOSURE_BIN_SHIFT));
    // Eight linear bins from 1 to 2, like the mantissas of floats.
    let stops = f32(bin / 8u) - 16.0 + log2(1.0 + (f32(bin % 8u) + mean_fraction) / 8.0);
    weighed[bin] = weight * vec2f(stops, 1.0);
    workgroupBarrier();
    for (var half = EXPOSURE_BINS / 2u; half > 0u; half /= 2u) {
        if bin < half {
            weighed[bin] += weighed[bin + half];
        }
        workgroupBarrier();
    }
    if bin == 0u {
        let all = weighed[0];
        let is_black = all.y == 0.0;
        let metered = log2(0.18) - all.x / select(all.y, 1.0, is_black) + params.compensation;
        let goal = clamp(select(metered, params.fallback, is_black), params.min_ev, params.max_ev);
        let way = goal - used.ev;
        let nearer = used.ev + params.share * way;
        // A step that rounds to zero would never arrive.
        let stands = nearer == used.ev && params.share > 0.0;
        let ev = select(nearer, goal, params.share >= 1.0 || abs(way) < ADAPTED || stands);
        used = Exposure(exp2(ev), ev, goal);
    }
}
