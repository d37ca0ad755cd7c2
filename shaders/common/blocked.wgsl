// What `occlusion_rays` and `occlusion_filter` know of a pixel: how much of the light from everywhere is blocked, and where.
//
// Blocked, and not open: of a surface with nothing in its way these are all 0, however few its rays, and what is open is the rest, which of the
// whole is known exactly.
#import "common/octahedral.wgsl"

struct OcclusionParams {
    // As Frame.clip_from_offset, without the sample's shift: of this frame and of the last one.
    clip_from_offset: mat4x4f,
    last_clip_from_offset: mat4x4f,
    last_eye: vec3f,
    // Frames since the history began.
    index: u32,
    // Of a pixel in a frame.
    rays: u32,
    // How far they go.
    reach: f32,
    // Of the band of rows that a dispatch traces.
    first_row: u32,
    // Earlier frames that count at most; 0 where the history begins.
    remembered: u32,
    // Side of a pixel in metres at the eye, and what a metre of depth adds to it.
    pixel_side: vec2f,
    // Pixels between the taps of the filter; 0 where nothing is filtered.
    step: u32,
}

struct Blocked {
    // Mean over the rays of those that hit something, and of their directions, 0 for the others.
    share: f32,
    direction: vec3f,
}

fn blocked_pack(blocked: Blocked) -> vec2u {
    let d = blocked.direction;
    return vec2u(pack2x16unorm(vec2f(blocked.share, 0.0)) | (pack2x16snorm(vec2f(0.0, d.x))), pack2x16snorm(d.yz));
}

fn blocked_unpack(words: vec2u) -> Blocked {
    return Blocked(unpack2x16unorm(words.x).x, vec3f(unpack2x16snorm(words.x).y, unpack2x16snorm(words.y)));
}

// What the history and the filter compare: where a pixel's surface is, and how it lies.
struct Place {
    position: vec3f,
    // Of its triangle, on the side of the eye.
    normal: vec3f,
    // Frames whose rays it has, 0 where there is nothing.
    frames: u32,
}

fn place_pack(place: Place) -> vec4u {
    return vec4u(bitcast<vec3u>(place.position), (place.frames << 22u) | octahedral_pack_22(place.normal));
}

fn place_unpack(words: vec4u) -> Place {
    return Place(bitcast<vec3f>(words.xyz), octahedral_unpack_22(words.w), words.w >> 22u);
}
