// Noisy signal of a pixel: four numbers from −1 to 1. It is passed from the passes that trace rays to those that
// average over frames and neighbours. Each number has 16 bits, so that an average over a thousand frames still changes.
//
// The average is taken over the blocked light. It is exactly 0 where nothing blocks, however few the rays.
#import "frame/frame.wgsl"
#import "math/octahedral.wgsl"

// Word of a pixel that cast no rays for a part of the signal. Nothing is blocked.
const SIGNAL_UNSENT = 0x80000000u;
// Words of a pixel that keeps its light's history. With SIGNAL_KEPT all of the light arrives; with SIGNAL_KEPT_BLOCKED
// in addition, none does.
const SIGNAL_KEPT = 0x80010000u;
const SIGNAL_KEPT_BLOCKED = SIGNAL_SHARE;
// Bits of a light's word: the blocked fraction, and a flag for a shadow edge that cast more rays.
const SIGNAL_SHARE = 0x7fffu;
const SIGNAL_EDGE = 0x8000u;

struct SignalParams {
    // Maximum history length in frames, without this one. 0 restarts the history.
    max_history: u32,
    // Rays per pixel in this frame.
    rays: u32,
    // Distance between filter taps in pixels; 0 disables the filter.
    step: u32,
    // First of the two layers of `noisy_texture`.
    layer: u32,
    // For a signal of two lights, per light: 1 if it has a size and therefore penumbras to filter.
    soft: vec2f,
    // Nonzero if shadow edges get more rays.
    sharpens: u32,
    // For radiance: strength of the compression of bright radiance (math/color.wgsl).
    compression: f32,
}

fn signal_pack(signal: vec4f) -> vec2u {
    return vec2u(pack2x16snorm(signal.xy), pack2x16snorm(signal.zw));
}

// Returns the noisy words, with nothing blocked if no rays were cast.
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

// Surface of a pixel, for comparison with other pixels' surfaces in the history and in the filter.
struct SignalSurface {
    position: vec3f,
    // Normal of its triangle, towards the eye.
    normal: vec3f,
    // Five-bit hash that distinguishes meshes.
    mesh: u32,
    // True if it has moved since the last frame.
    moved: bool,
    // Number of frames since the surface became visible; 0 if there is no surface.
    frames: u32,
}

// Packs a surface. The mesh and the motion take the last two bits of each coordinate, which is within the tolerance of
// the comparisons.
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

// Returns the distance within which points count as coplanar: the local pixel width plus the rounding of coordinates.
fn signal_tolerance(position: vec3f) -> f32 {
    let largest = max(abs(position.x), max(abs(position.y), abs(position.z)));
    return frame_pixel_width(position) + 9.5367432e-7 * largest;
}
