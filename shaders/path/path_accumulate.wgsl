// path_accumulate: adds a sample of each pixel to its sums; path_resolve: computes the mean.
//
// in   a non-negative sample of `path`
// out  sums: PATH_SUM_WORDS per pixel, the words of fixed-point numbers with PATH_FRACTION fractional bits, lowest word
//      first. Integer sums are exact and independent of order, so parts of the samples may be summed on other machines.
//      Samples that are too large saturate.
//      hdr_out: the mean without the plain background; alpha is the fraction of samples that hit a surface
//      display_out: the plain background behind the surfaces
// One thread per pixel.
#import "environment/backdrop.wgsl"
#import "frame/frame.wgsl"
#import "math/half_float.wgsl"
#import "path/path_table.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: PathParams;
@group(1) @binding(2) var<storage, read_write> sums: array<vec4u>;
@group(1) @binding(3) var sample: texture_2d<f32>;
@group(1) @binding(4) var hdr_out: texture_storage_2d<rgba16float, write>;
@group(1) @binding(5) var display_out: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn path_accumulate(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let at = PATH_SUM_WORDS * (pixel.y * params.width + pixel.x);
    let bits = bitcast<vec4u>(textureLoad(sample, pixel, 0));
    let stored = (bits >> vec4u(23u)) & vec4u(0xffu);
    let exponent = min(stored, vec4u(PATH_MAX_EXPONENT));
    let mantissa = (bits & vec4u(0x7fffffu)) | vec4u(0x800000u);
    let digits = select(mantissa, vec4u(0xffffffu), stored > exponent);
    // Exponent of a float whose last mantissa bit aligns with the last bit of the sums. Smaller numbers are rounded.
    let last = vec4u(150u - PATH_FRACTION);
    let right = min(max(last, exponent) - exponent, vec4u(31u));
    let rounded = (digits + ((vec4u(1u) << right) >> vec4u(1u))) >> right;
    let left = max(last, exponent) - last;
    let word = left / 32u;
    let low = rounded << (left % 32u);
    let high = (rounded >> vec4u(1u)) >> (vec4u(31u) - left % 32u);
    var carry = vec4u(0u);
    for (var i = 0u; i < PATH_SUM_WORDS; i++) {
        let own = select(vec4u(0u), low, word == vec4u(i)) | select(vec4u(0u), high, word + 1u == vec4u(i));
        let sum = sums[at + i];
        let more = sum + own;
        let all = more + carry;
        sums[at + i] = all;
        carry = select(vec4u(0u), vec4u(1u), more < sum) | select(vec4u(0u), vec4u(1u), all < more);
    }
}

@compute @workgroup_size(8, 8)
fn path_resolve(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let at = PATH_SUM_WORDS * (pixel.y * params.width + pixel.x);
    var sum = vec4f(0.0);
    for (var i = 0u; i < PATH_SUM_WORDS; i++) {
        sum = sum * 4294967296.0 + vec4f(sums[at + PATH_SUM_WORDS - 1u - i]);
    }
    let mean = sum * PATH_SUM_UNIT / f32(params.count);
    let alpha = saturate(mean.a);
    let behind = (1.0 - alpha) * backdrop_light(frame_ray(pixel));
    // On a pure background, only rounding errors would be left, and dithering would make them visible.
    let is_plain = alpha == 0.0 && frame.shows_environment == 0u;
    let lit = select(max(mean.rgb - behind * frame.unlit_radiance, vec3f(0.0)), vec3f(0.0), is_plain);
    textureStore(hdr_out, pixel, half_float_round(vec4f(min(lit, vec3f(RADIANCE_MAX)), alpha)));
    textureStore(display_out, pixel, half_float_round(vec4f(behind, 1.0)));
}
