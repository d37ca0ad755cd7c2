// Rays of ambient occlusion, and where one has hit something first.

struct OcclusionParams {
    // Number of this frame since the history began.
    index: u32,
    // Rays per pixel and frame.
    rays: u32,
    // Length of the rays.
    reach: f32,
    // Number of the ray in this frame whose first hit is told; none where there are not so many.
    told: u32,
}

struct OcclusionHit {
    leaf: u32,
    // Where on its triangle.
    barycentric: vec2f,
    // Whether the ray sees its back.
    is_back: bool,
}

// Nothing.
const OCCLUSION_UNHIT = vec2u(0xffffffffu);

fn occlusion_hit_pack(hit: OcclusionHit) -> vec2u {
    let steps = vec2u(round(saturate(hit.barycentric) * vec2f(65535.0, 32767.0)));
    return vec2u(hit.leaf, steps.x | (steps.y << 16u) | select(0u, 0x80000000u, hit.is_back));
}

fn occlusion_hit_unpack(words: vec2u) -> OcclusionHit {
    let steps = vec2f(vec2u(words.y & 0xffffu, (words.y >> 16u) & 0x7fffu));
    return OcclusionHit(words.x, steps / vec2f(65535.0, 32767.0), words.y >= 0x80000000u);
}
