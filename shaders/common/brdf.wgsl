// glTF 2.0's metallic-roughness BRDF (appendix B): GGX, height-correlated Smith visibility, Schlick's
// Fresnel, Lambert.
#import "common/environment.wgsl"
#import "common/gbuffer.wgsl"
#import "common/ambient_visibility.wgsl"
#import "common/reflection.wgsl"

// The distribution uses |n × h|² instead of 1 − (n · h)², which loses all its digits near a highlight's peak.
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

// Attenuates a light where a normal map turns the surface towards it: the nearer the light is to the horizon
// of the smooth surface, the more, down to 0 below it (Chiang, Li and Burley 2019, "Taming the Shadow
// Terminator", section 3). The factor is 1 where both normals are the same.
fn brdf_terminator(smooth_normal: vec3f, normal: vec3f, to_light: vec3f) -> f32 {
    let turned = dot(normal, to_light) * dot(smooth_normal, normal);
    let g = saturate(dot(smooth_normal, to_light) / max(turned, 1.0e-6));
    return g * (1.0 + g * (1.0 - g));
}

// BRDF × cosine, for unit vectors to the eye and to the light.
fn brdf_evaluate(s: Surface, to_eye: vec3f, to_light: vec3f) -> vec3f {
    let n_dot_l = dot(s.normal, to_light);
    if n_dot_l <= 0.0 {
        return vec3f(0.0);
    }
    let sum = to_eye + to_light;
    // Opposite directions have no half vector: the normal replaces it.
    let half_vector = select(s.normal, normalize(sum), dot(sum, sum) > 1.0e-12);
    let n_dot_v = abs(dot(s.normal, to_eye)) + 1.0e-5;
    let v_dot_h = saturate(dot(to_eye, half_vector));
    let alpha = pow(max(s.roughness, ROUGHNESS_MIN), 2.0);
    // Schlick's Fresnel is linear in f0, so one evaluation serves the mix of dielectric and metal. A
    // dielectric scatters what it does not reflect.
    let grazing = pow(1.0 - v_dot_h, 5.0);
    let f0 = mix(vec3f(0.04), s.albedo, s.metallic);
    let fresnel = f0 + (1.0 - f0) * grazing;
    let specular = fresnel * brdf_ggx(s.normal, half_vector, alpha) * brdf_smith(n_dot_l, n_dot_v, alpha);
    let diffuse = (1.0 - s.metallic) * (0.96 - 0.96 * grazing) * s.albedo / PI;
    return (diffuse + specular) * n_dot_l * brdf_terminator(s.smooth_normal, s.normal, to_light);
}

// Shares of uniform lighting that a microfacet surface reflects after one bounce and after further bounces.
struct Bounces {
    once: vec3f,
    again: vec3f,
}

// `f0` and `f90` are the reflectances at normal and at grazing incidence. `split` is the scale and bias of
// the split-sum table. Light that leaves the table's albedo short of 1 bounces on between microfacets and
// loses energy by the mean reflectance each time (Fdez-Agüera 2019, "A Multiple-Scattering Microfacet Model
// for Real-Time Image-based Lighting", section 3).
fn brdf_bounces(f0: vec3f, f90: vec3f, split: vec2f) -> Bounces {
    let once = f0 * split.x + f90 * split.y;
    let missed = 1.0 - (split.x + split.y);
    let mean = f0 + (f90 - f0) / 21.0;
    return Bounces(once, once * mean * missed / (1.0 - mean * missed));
}

// `Bounces::once` of a surface.
fn brdf_once(s: Surface, n_dot_v: f32) -> vec3f {
    let split = brdf_table_at(s.roughness, n_dot_v);
    let dielectric = brdf_bounces(vec3f(0.04), vec3f(1.0), split);
    let metal = brdf_bounces(s.albedo, vec3f(1.0), split);
    return mix(dielectric.once, metal.once, s.metallic);
}

// Environment lighting, attenuated by the ambient visibility, and what bounces off what occludes it. The first
// reflection reads the prefiltered radiance along the mirror direction, but for the share that rays have found; further
// bounces and diffuse light read the irradiance about the bent normal.
fn brdf_ambient(s: Surface, to_eye: vec3f, ambient: AmbientVisibility, reflected: Reflected) -> vec3f {
    let n_dot_v = saturate(dot(s.normal, to_eye));
    let split = brdf_table_at(s.roughness, n_dot_v);
    let dielectric = brdf_bounces(vec3f(0.04), vec3f(1.0), split);
    let metal = brdf_bounces(s.albedo, vec3f(1.0), split);
    let scattered = s.albedo * (1.0 - dielectric.once - dielectric.again);
    let once = mix(dielectric.once, metal.once, s.metallic);
    let gathered = mix(dielectric.again + scattered, metal.again, s.metallic);
    let diffuse_light = ambient_bounced(ambient.visibility, s.albedo) * environment_diffuse(ambient.bent_normal)
        + ambient.bounced;
    let open = environment_prefiltered(reflect(-to_eye, s.normal), s.roughness);
    let mirrored = ambient_specular(ambient, open, n_dot_v, s.roughness);
    let unseen = (1.0 - reflected.share) * once * mirrored;
    return (unseen + gathered * diffuse_light) * s.occlusion
        + reflected.share * once * reflected.radiance;
}
