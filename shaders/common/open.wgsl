// How much of the light from everywhere arrives at a surface, and from where.
#import "common/octahedral.wgsl"

struct Open {
    // Unit vector: where it comes from on the whole (the bent normal).
    direction: vec3f,
    // Of the light that would arrive with nothing in its way, cosine and all.
    share: f32,
}

// Nothing is in the way.
fn open_wholly(normal: vec3f) -> Open {
    return Open(normal, 1.0);
}

// 10 bits of share over a direction in 2 × 11 bits.
fn open_pack(open: Open) -> u32 {
    return (u32(round(saturate(open.share) * 1023.0)) << 22u) | octahedral_pack_22(open.direction);
}

fn open_unpack(word: u32) -> Open {
    return Open(octahedral_unpack_22(word), f32(word >> 22u) / 1023.0);
}

// How much of what a lobe about the mirror direction would reflect arrives (Lagarde and de Rousiers 2014, "Moving Frostbite to Physically Based
// Rendering", 4.10.2): all where `share` is 1, nothing where it is 0.
fn open_specular(share: f32, n_dot_v: f32, roughness: f32) -> f32 {
    return saturate(pow(n_dot_v + share, exp2(-16.0 * roughness * roughness - 1.0)) - 1.0 + share);
}
