// Weights of a surface's lobes for the radiance that their rays find.
#import "material/brdf.wgsl"
#import "material/lobes.wgsl"

// Fraction of uniform light that each traced lobe reflects or transmits.
struct LobeWeights {
    coat: f32,
    base: vec3f,
    through: vec3f,
    // Ratios of multiple to single scattering of the coat and of the base, for a reflectance of 1.
    coat_ratio: f32,
    base_ratio: f32,
}

fn lobe_grazing(cosine: f32) -> f32 {
    return pow(1.0 - saturate(cosine), 5.0);
}

fn lobe_fresnel(l: Lobes, cosine: f32) -> vec3f {
    return l.f0 + (l.f90 - l.f0) * lobe_grazing(cosine);
}

// Returns the reflectance of the coat, the same as `layers_coat`.
fn lobe_coat(l: Lobes, to_eye: vec3f) -> f32 {
    return l.coat * (0.04 + 0.96 * lobe_grazing(abs(dot(l.coat_normal, to_eye))));
}

// Returns the fraction of light that reaches the base and returns.
fn lobe_under(l: Lobes, to_eye: vec3f) -> f32 {
    return l.under_sheen * (1.0 - lobe_coat(l, to_eye));
}

// Returns the fraction of light that enters through microfacets at this angle.
fn lobe_entering(l: Lobes, s: Surface, cosine: f32) -> vec3f {
    let fresnel = lobe_fresnel(l, cosine);
    return s.albedo * (l.transmission * max(1.0 - max(fresnel.r, max(fresnel.g, fresnel.b)), 0.0));
}

// Returns the roughness of the isotropic lobe that reflects about as much as an anisotropic one, from the mean of the
// two α². It matches the integrals of lobes with α from 0.02 to 1 within 3 %.
fn lobe_mean_roughness(roughness: f32, anisotropy: f32) -> f32 {
    let alpha = roughness * roughness;
    let stretched = mix(alpha, 1.0, anisotropy * anisotropy);
    return select(roughness, sqrt(sqrt(0.5 * (alpha * alpha + stretched * stretched))), anisotropy > 0.0);
}

// Returns the mean of the squared reflectance at normal incidence of dielectric and metal. `f0` is the mean of the
// reflectance itself. Multiple scattering is proportional to the square.
fn lobe_squared(l: Lobes, s: Surface) -> vec3f {
    let dielectric = max(l.f0 - s.metallic * s.albedo, vec3f(0.0));
    return dielectric * dielectric / max(1.0 - s.metallic, 1.0e-3) + s.metallic * s.albedo * s.albedo;
}

// Returns the factor of multiple scattering on the base's reflection at a cosine to the microfacet.
fn lobe_gain(l: Lobes, s: Surface, ratio: f32, cosine: f32) -> vec3f {
    let squared = lobe_squared(l, s);
    let multiple = mix(squared, l.f0 * l.f90, lobe_grazing(cosine));
    return 1.0 + ratio * multiple / max(lobe_fresnel(l, cosine), vec3f(1.0e-6));
}

fn lobe_weights(l: Lobes, s: Surface, to_eye: vec3f) -> LobeWeights {
    let n_dot_v = dot(s.normal, to_eye);
    let split = brdf_table_at(lobe_mean_roughness(s.roughness, l.anisotropy), abs(n_dot_v));
    let under = lobe_under(l, to_eye);
    let coat_split = brdf_table_at(l.coat_roughness, abs(dot(l.coat_normal, to_eye)));
    let ratio = brdf_multiple_ratio(split);
    let multiple = ratio * (lobe_squared(l, s) * split.x + l.f0 * l.f90 * split.y);
    return LobeWeights(
        reflection_share_of(l.coat_roughness) * lobe_coat(l, to_eye),
        reflection_share(s) * under * (l.f0 * split.x + l.f90 * split.y + multiple),
        select(0.0, under, frame.reflect_below > 0.0) * lobe_entering(l, s, abs(n_dot_v)),
        brdf_multiple_ratio(coat_split),
        ratio,
    );
}

fn lobe_weights_sum(w: LobeWeights) -> vec3f {
    return vec3f(w.coat) + w.base + w.through;
}
