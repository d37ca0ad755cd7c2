// Ambient visibility of a surface: the visible part of the environment, its mean direction, and the light that
// occluders reflect.
#import "math/octahedral.wgsl"
#import "math/rgb9e5.wgsl"

struct AmbientVisibility {
    // Bent normal: the mean unoccluded direction, a unit vector.
    bent_normal: vec3f,
    // Visible fraction of the cosine-weighted hemisphere; 1 if there are no occluders.
    visibility: f32,
    // Radiance that occluders reflect, averaged over the cosine-weighted hemisphere. If it is complete, also what they and
    // media emit.
    bounced: vec3f,
    // 1 if the visibility comes from only two rays, 0 if it is a mean of many.
    is_pair: f32,
    // True if it was traced.
    is_traced: bool,
    // True if `bounced` is all light that occluders reflect, and `environment_share` is known: the fraction of the
    // unoccluded diffuse light of the environment that is visible. Otherwise `bounced` has light of lights only.
    is_complete: bool,
    environment_share: vec3f,
}

// Returns the ambient visibility of an unoccluded surface.
fn ambient_unoccluded(normal: vec3f) -> AmbientVisibility {
    var ambient = ambient_traced(normal, 1.0, vec3f(0.0));
    ambient.is_traced = false;
    return ambient;
}

// Returns an ambient visibility that was traced. `bounced` has light of lights only.
fn ambient_traced(bent_normal: vec3f, visibility: f32, bounced: vec3f) -> AmbientVisibility {
    return AmbientVisibility(bent_normal, visibility, bounced, 0.0, true, false, vec3f(0.0));
}

// Packs 10 bits of visibility above a direction of 2 × 11 bits, and the bounced light.
fn ambient_visibility_pack(ambient: AmbientVisibility) -> vec2u {
    let visibility = u32(round(saturate(ambient.visibility) * 1023.0));
    let word = (visibility << 22u) | octahedral_pack_22(ambient.bent_normal);
    return vec2u(word, rgb9e5_pack(ambient.bounced));
}

fn ambient_visibility_unpack(words: vec2u) -> AmbientVisibility {
    let share = f32(words.x >> 22u) / 1023.0;
    return ambient_traced(octahedral_unpack_22(words.x), share, rgb9e5_unpack(words.y));
}

// Packs the first word of a complete ambient visibility: the square root of the share, which keeps dark rooms dark, and
// the visibility.
fn ambient_complete_pack(environment_share: vec3f, visibility: f32) -> u32 {
    return pack4x8unorm(vec4f(sqrt(environment_share), visibility));
}

fn ambient_complete_unpack(words: vec2u, normal: vec3f) -> AmbientVisibility {
    let packed = unpack4x8unorm(words.x);
    var ambient = ambient_traced(normal, packed.w, rgb9e5_unpack(words.y));
    ambient.is_complete = true;
    ambient.environment_share = packed.xyz * packed.xyz;
    return ambient;
}

// Returns the fraction of diffuse environment light that arrives directly or after interreflections with the occluders.
// The occluders are assumed to have the surface's albedo and occlusion (Jimenez et al. 2016, "Practical Real-Time
// Strategies for Accurate Indirect Occlusion", section 6). The polynomial is a fit to path tracing, per channel. It
// maps 0 to 0 and 1 to 1.
//
// The fit is convex, so its mean over pairs of rays would be too small. With f(v) ≈ v + q v (1 − v), one visible ray of
// two has to count (1 + q) / 2 = 2 f(1/2) − 1/2.
fn ambient_bounced(ambient: AmbientVisibility, albedo: vec3f) -> vec3f {
    let a = 2.0404 * albedo - 0.3324;
    let b = -4.7951 * albedo + 0.6417;
    let c = 2.7552 * albedo + 0.6903;
    let v = vec3f(ambient.visibility);
    let share = saturate(max(v, ((v * a + b) * v + c) * v));
    return share + ambient.is_pair * (share - v);
}

// Returns the visibility of the specular lobe around the mirror direction: 1 where `visibility` is 1, and 0 where it is
// 0 (Lagarde and de Rousiers 2014, "Moving Frostbite to Physically Based Rendering", 4.10.2).
fn specular_visibility(visibility: f32, n_dot_v: f32, roughness: f32) -> f32 {
    return saturate(pow(n_dot_v + visibility, exp2(-16.0 * roughness * roughness - 1.0)) - 1.0 + visibility);
}

// Returns the radiance of a specular lobe whose unoccluded radiance is `mirrored`. Occluders fill the part of the lobe
// that does not see the environment.
fn ambient_specular(ambient: AmbientVisibility, mirrored: vec3f, n_dot_v: f32, roughness: f32) -> vec3f {
    let seen = specular_visibility(ambient.visibility, n_dot_v, roughness);
    return seen * mirrored + (1.0 - seen) / max(1.0 - ambient.visibility, 1.0e-3) * ambient.bounced;
}
