// noise: estimates the remaining noise of the mean of many samples.
//
// in   shown: sums over params.summed frames of the light that a display emits, in a picture of params.frames frames;
//      before: such sums after params.frames_before, fewer frames
// out  bins: pixels by the standard error of their mean, in the channel with the largest error. There are
//      NOISE_EVEN_BINS linear bins, NOISE_BINS_PER_LEVEL for each level of 255. Then follow NOISE_BINS_PER_OCTAVE bins
//      per factor of 2; the last bin holds all larger errors.
//      before: a copy of shown. Without earlier frames, this is the only output.
// One thread per pixel. Workgroups share data only through atomicAdd.
//
// Let a mean of n frames extend a mean of m frames, and let s² be the variance of a frame. Then the difference of the
// two means has a variance of s² (1/m − 1/n). The variance of the mean itself is s²/n. This generalises the two-halves
// estimate of Dammertz et al. 2010, "A Hierarchical Automatic Stopping Condition for Monte Carlo Global Illumination",
// to any two means.
#import "frame/display.wgsl"

struct NoiseParams {
    width: u32,
    height: u32,
    frames: u32,
    frames_before: u32,
    // Number of frames in the sums, or 1 if shown holds their mean.
    summed: u32,
    summed_before: u32,
}

@group(0) @binding(0) var<uniform> params: NoiseParams;
@group(0) @binding(1) var<storage, read> shown: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> before: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> bins: array<atomic<u32>, NOISE_BINS>;

var<workgroup> counts: array<atomic<u32>, NOISE_BINS>;

fn displayed(light: vec4f) -> vec4f {
    return vec4f(srgb_encode(light.rgb), light.a);
}

@compute @workgroup_size(8, 8)
fn noise(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) thread: u32) {
    atomicStore(&counts[thread], 0u);
    workgroupBarrier();
    if id.x < params.width && id.y < params.height {
        let at = id.y * params.width + id.x;
        let sum = shown[at];
        if params.frames_before > 0u {
            let mean = displayed(sum / f32(params.summed));
            let mean_before = displayed(before[at] / f32(params.summed_before));
            let share = f32(params.frames_before) / f32(params.frames - params.frames_before);
            let error = abs(mean - mean_before) * (sqrt(share) * 255.0);
            let largest = max(max(error.r, error.g), max(error.b, error.a));
            let even = largest * f32(NOISE_BINS_PER_LEVEL);
            let octaves = log2(max(even / f32(NOISE_EVEN_BINS), 1.0));
            let later = NOISE_EVEN_BINS + u32(octaves * f32(NOISE_BINS_PER_OCTAVE));
            let bin = min(select(later, u32(even), even < f32(NOISE_EVEN_BINS)), NOISE_BINS - 1u);
            atomicAdd(&counts[bin], 1u);
        }
        before[at] = sum;
    }
    workgroupBarrier();
    let count = atomicLoad(&counts[thread]);
    if count > 0u {
        atomicAdd(&bins[thread], count);
    }
}
