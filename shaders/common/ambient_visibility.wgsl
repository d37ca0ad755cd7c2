// The part of the environment lighting that reaches a surface, and its mean direction.
#import "common/octahedral.wgsl"

struct AmbientVisibility {
    // Bent normal: the mean unoccluded direction, a unit vector.
    bent_normal: vec3f,
    // Share of the unoccluded, cosine-weighted hemisphere: 1 where nothing occludes.
    visibility: f32,
}

// The ambient visibility of a surface that nothing occludes.
fn ambient_unoccluded(normal: vec3f) -> AmbientVisibility {
    return AmbientVisibility(normal, 1.0);
}

// Packs 10 bits of visibility above a direction of 2 × 11 bits.
fn ambient_visibility_pack(ambient: AmbientVisibility) -> u32 {
    let visibility = u32(round(saturate(ambient.visibility) * 1023.0));
    return (visibility << 22u) | octahedral_pack_22(ambient.bent_normal);
}

fn ambient_visibility_unpack(word: u32) -> AmbientVisibility {
    return AmbientVisibility(octahedral_unpack_22(word), f32(word >> 22u) / 1023.0);
}

// The share of diffuse environment light that arrives in the end, straight or by way of the neighbours that occlude,
// which are taken to have the same albedo and to be as occluded (Jimenez et al. 2016, "Practical Real-Time
// Strategies for Accurate Indirect Occlusion", 6): a fit to path tracing, for each channel. 0 and 1 stay.
fn ambient_bounced(visibility: f32, albedo: vec3f) -> vec3f {
    let a = 2.0404 * albedo - 0.3324;
    let b = -4.7951 * albedo + 0.6417;
    let c = 2.7552 * albedo + 0.6903;
    let v = vec3f(visibility);
    return saturate(max(v, ((v * a + b) * v + c) * v));
}

// Visibility of the specular lobe around the mirror direction: 1 where `visibility` is 1, and 0 where it is 0
// (Lagarde and de Rousiers 2014, "Moving Frostbite to Physically Based Rendering", 4.10.2).
fn specular_visibility(visibility: f32, n_dot_v: f32, roughness: f32) -> f32 {
    return saturate(pow(n_dot_v + visibility, exp2(-16.0 * roughness * roughness - 1.0)) - 1.0 + visibility);
}
