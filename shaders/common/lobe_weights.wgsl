// How much of what rays find a surface shows, for each of its lobes.
#import "common/brdf.wgsl"
#import "common/lobes.wgsl"

// Shares of uniform light that come by each lobe, of those that rays trace.
struct LobeWeights {
    coat: f32,
    base: vec3f,
    through: vec3f,
    // Factors of multiple scattering on the lobes of the coat and of the base.
    coat_gain: f32,
    base_gain: vec3f,
}

fn lobe_grazing(cosine: f32) -> f32 {
    return pow(1.0 - saturate(cosine), 5.0);
}

fn lobe_fresnel(l: Lobes, cosine: f32) -> vec3f {
    return l.f0 + (l.f90 - l.f0) * lobe_grazing(cosine);
}

// The share that the coat reflects: that of `layers_coat`.
fn lobe_coat(l: Lobes, to_eye: vec3f) -> f32 {
    return l.coat * (0.04 + 0.96 * lobe_grazing(abs(dot(l.coat_normal, to_eye))));
}

// What reaches the base and comes back.
fn lobe_under(l: Lobes, to_eye: vec3f) -> f32 {
    return l.under_sheen * (1.0 - lobe_coat(l, to_eye));
}

// What enters, of a unit of light that meets facets at this angle.
fn lobe_entering(l: Lobes, s: Surface, cosine: f32) -> vec3f {
    let fresnel = lobe_fresnel(l, cosine);
    return s.albedo * (l.transmission * max(1.0 - max(fresnel.r, max(fresnel.g, fresnel.b)), 0.0));
}

// Roughness of the isotropic lobe that reflects about as much as one that is stretched: the mean of both α². Of the
// integrals of lobes with α from 0.02 to 1 it is within 3 %.
fn lobe_mean_roughness(roughness: f32, anisotropy: f32) -> f32 {
    let alpha = roughness * roughness;
    let stretched = mix(alpha, 1.0, anisotropy * anisotropy);
    return select(roughness, sqrt(sqrt(0.5 * (alpha * alpha + stretched * stretched))), anisotropy > 0.0);
}

fn lobe_weights(l: Lobes, s: Surface, to_eye: vec3f) -> LobeWeights {
    let n_dot_v = dot(s.normal, to_eye);
    let split = brdf_table_at(lobe_mean_roughness(s.roughness, l.anisotropy), saturate(n_dot_v));
    let under = lobe_under(l, to_eye);
    let coat_gain = 1.0 + brdf_again(brdf_table_at(l.coat_roughness, abs(dot(l.coat_normal, to_eye))));
    return LobeWeights(
        reflection_share_of(l.coat_roughness) * lobe_coat(l, to_eye),
        reflection_share(s) * under * brdf_albedo(l.f0, l.f90, split),
        select(0.0, under, frame.reflect_below > 0.0) * lobe_entering(l, s, abs(n_dot_v)),
        coat_gain,
        1.0 + l.f0 * brdf_again(split),
    );
}

fn lobe_weights_sum(w: LobeWeights) -> vec3f {
    return vec3f(w.coat) + w.base + w.through;
}
