// The occlusion of a pixel, as `occlusion_rays` and `occlusion_filter` exchange it.
//
// The signal is occlusion and not visibility: it is exactly 0 for an unoccluded surface, however few its
// rays, and the visibility follows from it, because the integral over the whole hemisphere is known.
#import "common/octahedral.wgsl"

struct OcclusionParams {
    // Number of this frame since the history began.
    index: u32,
    // Rays per pixel and frame.
    rays: u32,
    // Length of the rays.
    reach: f32,
    // Most earlier frames that the history counts; 0 where the history begins.
    remembered: u32,
    // Pixels between the taps of the filter; 0 leaves the signal unfiltered.
    step: u32,
}

struct Occlusion {
    // Means over all rays: the share that hit something, and the sum of the directions of those.
    share: f32,
    direction: vec3f,
}

fn occlusion_pack(occlusion: Occlusion) -> vec2u {
    let d = occlusion.direction;
    return vec2u(
        pack2x16unorm(vec2f(occlusion.share, 0.0)) | (pack2x16snorm(vec2f(0.0, d.x))),
        pack2x16snorm(d.yz),
    );
}

fn occlusion_unpack(words: vec2u) -> Occlusion {
    return Occlusion(unpack2x16unorm(words.x).x, vec3f(unpack2x16snorm(words.x).y, unpack2x16snorm(words.y)));
}

// The surface of a pixel. The history and the filter compare it with other pixels' surfaces.
struct OcclusionSurface {
    position: vec3f,
    // Normal of its triangle, on the side of the eye.
    normal: vec3f,
    // Frames whose rays it has accumulated; 0 where there is no surface.
    frames: u32,
}

fn occlusion_surface_pack(surface: OcclusionSurface) -> vec4u {
    return vec4u(
        bitcast<vec3u>(surface.position),
        (surface.frames << 22u) | octahedral_pack_22(surface.normal),
    );
}

fn occlusion_surface_unpack(words: vec4u) -> OcclusionSurface {
    return OcclusionSurface(bitcast<vec3f>(words.xyz), octahedral_unpack_22(words.w), words.w >> 22u);
}
