// compare: compares two pictures, A and B, in the viewer: split at a line, or as a false-colour error.
// compare_errors: computes the sum, the maximum and the number of these errors.
//
// in   a_texture, b_texture: sRGB-encoded pictures. If b_exposure is not 0, B is linear and displayed like radiance in
//      `tonemap`. Pictures whose size differs from the target's part are scaled about its centre and filtered. Other
//      pictures are read texel by texel.
// out  compare: the composed picture, sRGB-encoded
//      compare_errors: totals, which start at 0: the low 16 bits of the sums, the bits above them, the largest error
//      and the number of pixels, with errors in 1/65535
// compare: a full-screen triangle. compare_errors: one thread per pixel. A workgroup adds up in its memory and then
// with relaxed atomics. Nothing reads the totals before the dispatch has ended.
#import "frame/fullscreen.wgsl"
#import "frame/display.wgsl"
#import "math/magma.wgsl"

struct CompareParams {
    // Top-left corner and size in pixels of the target's part that shows the pictures.
    origin: vec2u,
    size: vec2u,
    // Mapping from a pixel centre in that part to texels of each picture: a factor and an offset.
    offset_a: vec2f,
    offset_b: vec2f,
    scale_a: f32,
    scale_b: f32,
    // Position of the split line in pixels from the left or the top. B is shown beyond it.
    line: f32,
    is_horizontal: u32,
    is_difference: u32,
    // Factor on errors before the colour map.
    gain: f32,
    // Nonzero to compute errors in linear light.
    is_linear: u32,
    // Exposure factor on B's linear radiance; 0 if B is sRGB-encoded.
    b_exposure: f32,
    // Tone curve for B's linear radiance, numbered like in tonemap.wgsl; 0 for none.
    b_curve: u32,
}

@group(0) @binding(0) var<uniform> params: CompareParams;
@group(0) @binding(1) var a_texture: texture_2d<f32>;
@group(0) @binding(2) var b_texture: texture_2d<f32>;
@group(0) @binding(3) var<storage, read_write> totals: array<atomic<u32>, 4>;

var<workgroup> sum: atomic<u32>;
var<workgroup> largest: atomic<u32>;
var<workgroup> count: atomic<u32>;

// Colour outside a picture.
const BACKDROP = vec3f(0.1);

// Samples a picture at `at` in texels. Alpha is 1 inside the picture.
fn filtered(picture: texture_2d<f32>, at: vec2f) -> vec4f {
    let size = vec2i(textureDimensions(picture));
    if any(at < vec2f(0.0)) || any(at >= vec2f(size)) {
        return vec4f(BACKDROP, 0.0);
    }
    let corner = floor(at - 0.5);
    let share = at - 0.5 - corner;
    let low = clamp(vec2i(corner), vec2i(0), size - 1);
    let high = clamp(vec2i(corner) + 1, vec2i(0), size - 1);
    let above = mix(
        textureLoad(picture, low, 0).rgb,
        textureLoad(picture, vec2i(high.x, low.y), 0).rgb,
        share.x,
    );
    let below = mix(
        textureLoad(picture, vec2i(low.x, high.y), 0).rgb,
        textureLoad(picture, high, 0).rgb,
        share.x,
    );
    return vec4f(mix(above, below, share.y), 1.0);
}

fn picture_a(pixel: vec2u) -> vec4f {
    return filtered(a_texture, (vec2f(pixel) + 0.5) * params.scale_a + params.offset_a);
}

fn picture_b(pixel: vec2u) -> vec4f {
    let found = filtered(b_texture, (vec2f(pixel) + 0.5) * params.scale_b + params.offset_b);
    let toned = display_tone(found.rgb * params.b_exposure, params.b_curve);
    let encoded = srgb_encode(toned);
    let is_radiance = found.a > 0.0 && params.b_exposure > 0.0;
    return vec4f(select(found.rgb, encoded, is_radiance), found.a);
}

// Returns the difference of the channel that differs most, from 0 to 1.
fn error_of(a: vec3f, b: vec3f) -> f32 {
    let encoded = abs(a - b);
    let linear = abs(srgb_decode(a) - srgb_decode(b));
    let channels = select(encoded, linear, params.is_linear != 0u);
    return saturate(max(channels.r, max(channels.g, channels.b)));
}

@fragment
fn compare(in: Corner) -> @location(0) vec4f {
    let pixel = vec2u(in.clip.xy) - params.origin;
    let a = picture_a(pixel);
    let b = picture_b(pixel);
    let place = in.clip.xy - vec2f(params.origin);
    let along = select(place.x, place.y, params.is_horizontal != 0u);
    let wiped = select(b.rgb, a.rgb, along < params.line);
    let colored = select(BACKDROP, magma(error_of(a.rgb, b.rgb) * params.gain), a.a * b.a > 0.0);
    return vec4f(select(wiped, colored, params.is_difference != 0u), 1.0);
}

@compute @workgroup_size(8, 8)
fn compare_errors(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) local: u32) {
    if local == 0u {
        atomicStore(&sum, 0u);
        atomicStore(&largest, 0u);
        atomicStore(&count, 0u);
    }
    workgroupBarrier();
    if all(id.xy < params.size) {
        let a = picture_a(id.xy);
        let b = picture_b(id.xy);
        if a.a * b.a > 0.0 {
            let error = u32(error_of(a.rgb, b.rgb) * 65535.0 + 0.5);
            atomicAdd(&sum, error);
            atomicMax(&largest, error);
            atomicAdd(&count, 1u);
        }
    }
    workgroupBarrier();
    if local == 0u {
        let whole = atomicLoad(&sum);
        atomicAdd(&totals[0], whole & 0xffffu);
        atomicAdd(&totals[1], whole >> 16u);
        atomicMax(&totals[2], atomicLoad(&largest));
        atomicAdd(&totals[3], atomicLoad(&count));
    }
}
