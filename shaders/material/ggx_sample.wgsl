// Sampling what a GGX surface reflects: bounded visible normals (Eto and Tokuyoshi 2023, "Bounded VNDF
// Sampling for Smith–GGX Reflections", listing 1), which send fewer directions below the surface than all
// visible normals do.

struct GgxSample {
    // In the basis whose third axis is the normal.
    direction: vec3f,
    // Half way between it and the eye.
    half_vector: vec3f,
    // Over the normal distribution, one over its density, times four cosines of the masking that are left:
    // `brdf_smith` × the direction's cosine × this is BRDF × cosine over density, but for Fresnel's term.
    inverse_density: f32,
}

// Half vector of a visible normal; `k` bounds them, and is 1 for all of them.
fn ggx_half_vector(to_eye: vec3f, alpha: vec2f, k: f32, u: vec2f) -> vec3f {
    let stretched = normalize(vec3f(alpha * to_eye.xy, to_eye.z));
    let bound = k * stretched.z;
    let z = (1.0 - u.y) * (1.0 + bound) - bound;
    let sine = sqrt(saturate(1.0 - z * z));
    let turn = 6.2831853 * u.x;
    let facet = stretched + vec3f(sine * cos(turn), sine * sin(turn), z);
    return normalize(vec3f(alpha * facet.xy, facet.z));
}

// `to_eye` is above the surface. An `alpha`, along the first two axes, of 0 is a mirror.
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

// The share of facets that are seen from this angle to the normal.
fn ggx_masking(cosine: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    return 2.0 * cosine / (cosine + sqrt(a2 + (1.0 - a2) * cosine * cosine));
}
