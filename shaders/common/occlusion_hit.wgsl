// Where a ray of ambient occlusion has hit something first.

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
