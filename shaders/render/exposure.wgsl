// exposure: what exposure the picture's own luminance asks for, and the one in use on its way there.
//
// exposure_histogram, a thread per 16 pixels
// in   hdr: all of it, the background too; bins all zero
// out  bins: pixels by the logarithm of their luminance, eight bins a stop, and in each the sum of where in the bin they are. Black pixels and
//      those that are no number are left out; infinite ones count as the brightest
// Bins are cut out of the bits of floats whose arithmetic is exact, and all sums are of integers: they are the same on every adapter, in any order.
// Threads of different workgroups meet only in atomicAdd.
//
// exposure, one workgroup of a thread per bin
// in   bins
// out  used: the mean of the logarithm of luminance between two percentiles becomes middle grey (Reinhard et al. 2002, "Photographic Tone
//      Reproduction for Digital Images", with the mean trimmed); always a number
#import "common/exposure.wgsl"

struct ExposureBin {
    count: atomic<u32>,
    // Sum of places in the bin, in steps of 2^-EXPOSURE_BIN_SHIFT of it: the lower word and the upper.
    sum_low: atomic<u32>,
    sum_high: atomic<u32>,
}

struct ExposureParams {
    // Shares of the pixels between which they count.
    low: f32,
    high: f32,
    // Stops more than middle grey asks for.
    compensation: f32,
    // Stops at least and at most.
    least: f32,
    most: f32,
    // Stops for a black picture.
    fallback: f32,
    // Of the way towards what is asked for; 1 is at once.
    share: f32,
}

@group(0) @binding(0) var<uniform> params: ExposureParams;
@group(0) @binding(1) var hdr_texture: texture_2d<f32>;
@group(0) @binding(2) var<storage, read_write> bins: array<ExposureBin>;
@group(0) @binding(3) var<storage, read_write> used: Exposure;

// A difference that nobody sees, in stops: where the way ends.
const ARRIVED = 0.01;

var<workgroup> counts: array<atomic<u32>, EXPOSURE_BINS>;
var<workgroup> sums: array<atomic<u32>, EXPOSURE_BINS>;

// Luminance as bits, from which those of the least that counts are taken off; past EXPOSURE_BINS << EXPOSURE_BIN_SHIFT where it is black or no
// number. Weights are Rec. 709's in 4096ths: a half float's product with them is exact in f32, so that it is all one whether it is fused with a sum.
fn luminance_bits(color: vec3f) -> u32 {
    let weighted = color * vec3f(871.0, 2929.0, 296.0) / 4096.0;
    let bits = bitcast<u32>((weighted.r + weighted.g) + weighted.b);
    let last = EXPOSURE_LEAST_BITS + (EXPOSURE_BINS << EXPOSURE_BIN_SHIFT) - 1u;
    // Up to infinity.
    return select(bits, min(bits, last), bits <= 0x7f800000u) - EXPOSURE_LEAST_BITS;
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
            // 64 · 64 times 20 bits: 32.
            atomicAdd(&sums[bin], bits & ((1u << EXPOSURE_BIN_SHIFT) - 1u));
        }
    }
    workgroupBarrier();
    let count = atomicLoad(&counts[thread]);
    if count > 0u {
        let sum = atomicLoad(&sums[thread]);
        atomicAdd(&bins[thread].count, count);
        let before = atomicAdd(&bins[thread].sum_low, sum);
        // It went over.
        if before + sum < before {
            atomicAdd(&bins[thread].sum_high, 1u);
        }
    }
}

// Pixels of all bins up to each.
var<workgroup> up_to: array<u32, EXPOSURE_BINS>;
// Sums of weighted stops, and of weights.
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
    let place = sum / (f32(max(count, 1u)) * f32(1u << EXPOSURE_BIN_SHIFT));
    // Eight bins from 1 to 2, evenly, as the mantissas of floats are.
    let stops = f32(bin / 8u) - 16.0 + log2(1.0 + (f32(bin % 8u) + place) / 8.0);
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
        let asked = log2(0.18) - all.x / select(all.y, 1.0, is_black) + params.compensation;
        let goal = clamp(select(asked, params.fallback, is_black), params.least, params.most);
        let way = goal - used.ev;
        let nearer = used.ev + params.share * way;
        // Steps that are lost in rounding would never arrive.
        let stands = nearer == used.ev && params.share > 0.0;
        let ev = select(nearer, goal, params.share >= 1.0 || abs(way) < ARRIVED || stands);
        used = Exposure(exp2(ev), ev, goal);
    }
}
