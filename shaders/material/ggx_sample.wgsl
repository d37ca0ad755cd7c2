// Importance sampling of GGX reflections with bounded visible normals (Eto and Tokuyoshi 2023, "Bounded VNDF Sampling
// for Smith–GGX Reflections", listing 1). Fewer directions end below the surface than with all visible normals.

struct GgxSample {
    // Reflected direction, in the basis whose third axis is the normal.
    direction: vec3f,
    // Half vector between the direction and the eye.
    half_vector: vec3f,
    // D / pdf, where D is the GGX distribution. `brdf_smith` × the direction's cosine × this value is BRDF × cosine /
    // pdf, without the Fresnel term.
    inverse_density: f32,
}

// Samples the half vector of a visible normal. `k` bounds the normals. A value of 1 samples all of them.
fn ggx_half_vector(to_eye: vec3f, alpha: vec2f, k: f32, u: vec2f) -> vec3f {
    let stretched = normalize(vec3f(alpha * to_eye.xy, to_eye.z));
    let bound = k * stretched.z;
    let z = (1.0 - u.y) * (1.0 + bound) - bound;
    let sine = sqrt(saturate(1.0 - z * z));
    let turn = 6.2831853 * u.x;
    let facet = stretched + vec3f(sine * cos(turn), sine * sin(turn), z);
    return normalize(vec3f(alpha * facet.xy, facet.z));
}

// Samples a reflected direction. `to_eye` is above the surface. `alpha` is given along the first two axes, and 0 is a
// mirror.
fn ggx_sample(to_eye: vec3f, alpha: vec2f, u: vec2f) -> GgxSample {
    let a = min(alpha.x, alpha.y);
    let a2 = a * a;
    let s = 1.0 + length(to_eye.xy);
    let s2 = s * s;
    let k = (1.0 - a2) * s2 / (s2 + a2 * to_eye.z * to_eye.z);
    let half_vector = ggx_half_vector(to_eye, alpha, k, u);
    let direction = 2.0 * dot(to_eye, half_vector) * half_vector - to_eye;
    let reach = length(vec3f(alpha * to_eye.xy, to_eye.z));
    return GgxSample(direction, half_vector, 2.0 * (k * to_eye.z + reach));
}

// Returns Smith masking: the visible fraction of the microfacets at this cosine to the normal.
fn ggx_masking(cosine: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    return 2.0 * cosine / (cosine + sqrt(a2 + (1.0 - a2) * cosine * cosine));
}
