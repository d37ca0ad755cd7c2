// Ambient occlusion rays, and the closest hit of one of them.

struct OcclusionParams {
    // Number of this frame since the start of the history.
    index: u32,
    // Rays per pixel and frame.
    rays: u32,
    // Length of the rays in metres.
    reach: f32,
    // Index of the ray whose closest hit is stored; a number past the last ray for none. The other rays are any-hit
    // rays.
    recorded_ray: u32,
    // Nonzero if the path tracer follows the rays on from their hits.
    starts_paths: u32,
}

struct OcclusionHit {
    leaf: u32,
    // Barycentric coordinates of the hit.
    barycentric: vec2f,
    // True if the ray hits a back face.
    is_back: bool,
}

// A miss.
const OCCLUSION_UNHIT = vec2u(0xffffffffu);

fn occlusion_hit_pack(hit: OcclusionHit) -> vec2u {
    let steps = vec2u(round(saturate(hit.barycentric) * vec2f(65535.0, 32767.0)));
    return vec2u(hit.leaf, steps.x | (steps.y << 16u) | select(0u, 0x80000000u, hit.is_back));
}

fn occlusion_hit_unpack(words: vec2u) -> OcclusionHit {
    let steps = vec2f(vec2u(words.y & 0xffffu, (words.y >> 16u) & 0x7fffu));
    return OcclusionHit(words.x, steps / vec2f(65535.0, 32767.0), words.y >= 0x80000000u);
}
