// A sampled signal of a pixel: four numbers from −1 to 1, as the passes that trace rays and those that
// average over frames and neighbours exchange them. 16 bits each: an average of a thousand frames still moves
// them.
//
// What is averaged is what is blocked: exactly 0 where nothing is, however few the rays.
#import "frame/frame.wgsl"
#import "math/octahedral.wgsl"

// The word of a pixel that sent no rays for a part of the signal: nothing is blocked.
const SIGNAL_UNSENT = 0x80000000u;
// The word of a pixel that goes on with what its light's history holds: all of the light arrives, or, with the other
// bits, none.
const SIGNAL_KEPT = 0x80010000u;
const SIGNAL_KEPT_BLOCKED = SIGNAL_SHARE;
// Of a light's word, the bits of the share that is blocked, and the bit that more rays were sent, as to edges of its
// shadow.
const SIGNAL_SHARE = 0x7fffu;
const SIGNAL_EDGE = 0x8000u;

struct SignalParams {
    // Most earlier frames that the mean counts; 0 where it begins.
    remembered: u32,
    // Rays per pixel that this frame stands for.
    rays: u32,
    // Pixels between the taps of the filter; 0 leaves the signal unfiltered.
    step: u32,
    // First of the two layers of `fresh`.
    layer: u32,
    // Of the words of two lights: 1 where the light has a size, so that there is something to average.
    soft: vec2f,
    // Whether edges of their shadows get more rays.
    sharpens: u32,
    // Of radiance: how much less bright radiance counts among neighbours (math/color.wgsl).
    compression: f32,
}

fn signal_pack(signal: vec4f) -> vec2u {
    return vec2u(pack2x16snorm(signal.xy), pack2x16snorm(signal.zw));
}

// Fresh words, with nothing blocked where no rays were sent.
fn signal_sent(words: vec2u) -> vec2u {
    return select(words, vec2u(0u), words == vec2u(SIGNAL_UNSENT));
}

fn signal_is_kept(words: vec2u) -> vec2<bool> {
    return (words & vec2u(0xffff0000u)) == vec2u(SIGNAL_KEPT);
}

fn signal_is_edge(words: vec2u) -> vec2<bool> {
    return (words & vec2u(SIGNAL_EDGE)) != vec2u(0u);
}

fn signal_unpack(words: vec2u) -> vec4f {
    return vec4f(unpack2x16snorm(words.x), unpack2x16snorm(words.y));
}

// The surface of a pixel. The history and the filter compare it with other pixels' surfaces.
struct SignalSurface {
    position: vec3f,
    // Normal of its triangle, on the side of the eye.
    normal: vec3f,
    // Five bits that tell meshes apart.
    mesh: u32,
    // Whether it has moved since the last frame.
    moved: bool,
    // Frames since it became visible; 0 where there is no surface.
    frames: u32,
}

// The mesh and the motion take the last two bits of each coordinate, which is within the tolerance of what compares
// them.
fn signal_surface_pack(surface: SignalSurface) -> vec4u {
    let bits = surface.mesh | select(0u, 32u, surface.moved);
    return vec4u(
        (bitcast<vec3u>(surface.position) & vec3u(0xfffffffcu)) | (vec3u(bits, bits >> 2u, bits >> 4u) & vec3u(3u)),
        (surface.frames << 22u) | octahedral_pack_22(surface.normal),
    );
}

fn signal_surface_unpack(words: vec4u) -> SignalSurface {
    let bits = words.xyz & vec3u(3u);
    return SignalSurface(
        bitcast<vec3f>(words.xyz & vec3u(0xfffffffcu)),
        octahedral_unpack_22(words.w),
        bits.x | (bits.y << 2u) | ((bits.z & 1u) << 4u),
        bits.z > 1u,
        words.w >> 22u,
    );
}

// Distance within which points count as lying in one plane: a pixel's width there, plus the rounding of
// coordinates.
fn signal_tolerance(position: vec3f) -> f32 {
    let largest = max(abs(position.x), max(abs(position.y), abs(position.z)));
    return frame_pixel_width(position) + 9.5367432e-7 * largest;
}
