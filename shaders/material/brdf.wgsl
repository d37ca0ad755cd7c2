// glTF 2.0's metallic-roughness BRDF (appendix B): GGX, height-correlated Smith visibility, Schlick's Fresnel and
// Lambert. The model is single-scattering. Scaling the lobe restores the multiply scattered light, and the layer below
// gets the light that the lobe leaves (Turquin 2019, "Practical multiple scattering compensation for microfacet
// models"). `materials.multiple_scattering` turns this off.
#import "environment/environment.wgsl"
#import "frame/gbuffer.wgsl"
#import "material/glint.wgsl"
#import "frame/ambient_visibility.wgsl"
#import "material/reflection.wgsl"

// Returns the GGX distribution. Uses |n × h|² instead of 1 − (n · h)², which loses all precision near the peak.
fn brdf_ggx(normal: vec3f, half_vector: vec3f, alpha: f32) -> f32 {
    let sine = cross(normal, half_vector);
    let cosine = alpha * dot(normal, half_vector);
    let k = alpha / (dot(sine, sine) + cosine * cosine);
    return k * k / PI;
}

fn brdf_smith(n_dot_l: f32, n_dot_v: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let l = n_dot_v * sqrt(n_dot_l * n_dot_l * (1.0 - a2) + a2);
    let v = n_dot_l * sqrt(n_dot_v * n_dot_v * (1.0 - a2) + a2);
    return 0.5 / max(l + v, 1.0e-7);
}

// Attenuates a light where a normal map turns the surface towards it. The factor falls with the light's elevation above
// the horizon of the smooth surface, down to 0 below it (Chiang, Li and Burley 2019, "Taming the Shadow Terminator",
// section 3). It is 1 where the two normals are equal, and everywhere if `materials.normal_terminator` is off. It
// applies to lights, not to the environment.
fn brdf_terminator(smooth_normal: vec3f, normal: vec3f, to_light: vec3f) -> f32 {
    let turned = dot(normal, to_light) * dot(smooth_normal, normal);
    let g = saturate(dot(smooth_normal, to_light) / max(turned, 1.0e-6));
    let is_off = (frame.materials_without & MATERIALS_NORMAL_TERMINATOR) != 0u;
    return select(g * (1.0 + g * (1.0 - g)), 1.0, is_off);
}

// True if microfacets and layers scatter light once, as in glTF's BRDF.
fn brdf_is_single() -> bool {
    return (frame.materials_without & MATERIALS_MULTIPLE_SCATTERING) != 0u;
}

// Returns the ratio of multiple to single scattering of a lobe with a Fresnel reflectance of 1. `split` is the scale
// and bias of the split-sum table. Their sum is the albedo of single scattering.
fn brdf_multiple_ratio(split: vec2f) -> f32 {
    return select(1.0 / max(split.x + split.y, 0.05) - 1.0, 0.0, brdf_is_single());
}

// Returns the directional albedo of a specular lobe. `f0` and `f90` are the reflectances at normal and at grazing
// incidence.
fn brdf_albedo(f0: vec3f, f90: vec3f, split: vec2f) -> vec3f {
    return (f0 * split.x + f90 * split.y) * (1.0 + f0 * brdf_multiple_ratio(split));
}

// Terms of the BRDF that depend on the eye but not on the light.
struct BrdfEye {
    // Fresnel term at normal incidence, and its rise to grazing incidence, with multiple scattering.
    facing: vec3f,
    rise: vec3f,
    // Diffuse BRDF at normal incidence on the microfacets, and the fraction of it that is lost at grazing incidence.
    diffuse: vec3f,
    taken: f32,
    // Growth of α² for highlights (material/glint.wgsl).
    growth: f32,
}

fn brdf_eye(s: Surface, to_eye: vec3f, growth: f32) -> BrdfEye {
    let split = brdf_table_at(s.roughness, abs(dot(s.normal, to_eye)));
    let ratio = brdf_multiple_ratio(split);
    let dielectric = 1.0 + 0.04 * ratio;
    let metal = 1.0 + s.albedo * ratio;
    let is_single = brdf_is_single();
    let below = select(1.0 - brdf_albedo(vec3f(0.04), vec3f(1.0), split).x, 0.96, is_single);
    return BrdfEye(
        mix(vec3f(0.04 * dielectric), s.albedo * metal, s.metallic),
        mix(vec3f(0.96 * dielectric), (1.0 - s.albedo) * metal, s.metallic),
        (1.0 - s.metallic) * below * s.albedo / PI,
        select(0.0, 1.0, is_single),
        growth,
    );
}

// Returns the BRDF × cosine, attenuated at the shadow terminator. `to_eye` and `to_light` are unit vectors.
fn brdf_evaluate(s: Surface, e: BrdfEye, to_eye: vec3f, to_light: vec3f) -> vec3f {
    let n_dot_l = dot(s.normal, to_light);
    if n_dot_l <= 0.0 {
        return vec3f(0.0);
    }
    let sum = to_eye + to_light;
    // Opposite directions have no half vector, so the normal replaces it.
    let half_vector = select(s.normal, normalize(sum), dot(sum, sum) > 1.0e-12);
    let n_dot_v = abs(dot(s.normal, to_eye)) + 1.0e-5;
    let v_dot_h = saturate(dot(to_eye, half_vector));
    let alpha = glint_alpha(pow(max(s.roughness, ROUGHNESS_MIN), 2.0), e.growth);
    let grazing = pow(1.0 - v_dot_h, 5.0);
    let lobe = brdf_ggx(s.normal, half_vector, alpha) * brdf_smith(n_dot_l, n_dot_v, alpha);
    let specular = (e.facing + e.rise * grazing) * lobe;
    let diffuse = e.diffuse * (1.0 - e.taken * grazing);
    return (diffuse + specular) * n_dot_l * brdf_terminator(s.smooth_normal, s.normal, to_light);
}

// Returns the directional albedo of the surface's specular lobe.
fn brdf_reflected(s: Surface, split: vec2f) -> vec3f {
    let dielectric = brdf_albedo(vec3f(0.04), vec3f(1.0), split);
    let metal = brdf_albedo(s.albedo, vec3f(1.0), split);
    return mix(dielectric, metal, s.metallic);
}

// Returns the fraction of the environment's light that is left by the material's occlusion texture. If occlusion is
// traced, the factor is 1, because rays find the geometry that the texture was baked from. Using both would darken
// twice.
fn brdf_occlusion(s: Surface, ambient: AmbientVisibility) -> f32 {
    return select(s.occlusion, 1.0, ambient.is_traced);
}

// Returns the radiance that a white diffuse surface would reflect of the environment and of its occluders. `albedo` is
// that of the occluders, if their light of the environment has to be estimated.
fn ambient_diffuse(ambient: AmbientVisibility, albedo: vec3f) -> vec3f {
    let share = select(ambient_bounced(ambient, albedo), ambient.environment_share, ambient.is_complete);
    return share * environment_diffuse(ambient.bent_normal) + ambient.bounced;
}

// Returns environment lighting, attenuated by the ambient visibility, and the light that occluders reflect. The
// specular lobe reads the prefiltered radiance along the mirror direction, except for the fraction that was traced.
fn brdf_ambient(s: Surface, to_eye: vec3f, ambient: AmbientVisibility, reflected: TracedReflection) -> vec3f {
    let n_dot_v = saturate(abs(dot(s.normal, to_eye)));
    let split = brdf_table_at(s.roughness, n_dot_v);
    let specular = brdf_reflected(s, split);
    let below = (1.0 - s.metallic) * (1.0 - brdf_albedo(vec3f(0.04), vec3f(1.0), split));
    let diffuse_light = ambient_diffuse(ambient, s.albedo);
    let open = environment_prefiltered(reflect(-to_eye, s.normal), s.roughness);
    let mirrored = ambient_specular(ambient, open, n_dot_v, s.roughness);
    let unseen = (1.0 - reflected.share) * specular * mirrored;
    return (unseen + s.albedo * below * diffuse_light) * brdf_occlusion(s, ambient)
        + reflected.share * specular * reflected.radiance;
}
