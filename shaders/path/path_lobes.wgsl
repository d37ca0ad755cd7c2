// Sampling of a surface's lobes: directions and densities for the continuation of a path.
#import "math/basis.wgsl"
#import "math/henyey_greenstein.wgsl"
#import "material/ggx_sample.wgsl"
#import "material/layered_surface.wgsl"
#import "math/sampling.wgsl"

// A surface, with everything needed to continue a path from it.
struct PathSurface {
    s: Surface,
    l: Layers,
    to_eye: vec3f,
    // Basis and α of the base lobe, then of the coat.
    basis: Basis,
    alpha: vec2f,
    coat_basis: Basis,
    coat_alpha: f32,
    // Selection probabilities of the coat, base, diffuse and transmission lobes.
    chances: vec4f,
    // PATH_LAYERED for a surface of a material, or one of the other kinds.
    kind: u32,
    // Growth of α² for highlights on surfaces that the eye sees (material/glint.wgsl).
    growth: f32,
    // Anisotropy of the phase function of a medium. In a medium only this, `s.position` and `to_eye` are known.
    anisotropy: f32,
}

const PATH_LAYERED = 0u;
// A scattering point in fog or in a volume.
const PATH_MEDIUM = 1u;
// The isosurface of a volume, which is Lambertian.
const PATH_MATTE = 2u;

fn path_in_basis(basis: Basis, normal: vec3f, v: vec3f) -> vec3f {
    return vec3f(dot(v, basis.tangent), dot(v, basis.bitangent), dot(v, normal));
}

// Returns the direction to the eye in a basis. It is kept above the horizon, because normal textures may tilt the
// normal away.
fn path_local_eye(basis: Basis, normal: vec3f, to_eye: vec3f) -> vec3f {
    let v = path_in_basis(basis, normal, to_eye);
    return normalize(vec3f(v.xy, max(abs(v.z), 1.0e-4)));
}

fn path_alpha(roughness: f32) -> f32 {
    let bounded = max(roughness, ROUGHNESS_MIN);
    return bounded * bounded;
}

fn path_surface(s: Surface, l: Layers, to_eye: vec3f) -> PathSurface {
    let alpha = path_alpha(s.roughness);
    let stretches = l.anisotropy > 0.0;
    var basis = basis_about(s.normal);
    if stretches {
        // Projects the tangent into the plane of the shading normal.
        let tangent = normalize(l.along - dot(l.along, s.normal) * s.normal);
        basis = Basis(tangent, cross(s.normal, tangent));
    }
    let stretched = select(alpha, mix(alpha, 1.0, l.anisotropy * l.anisotropy), stretches);
    let cosine = abs(dot(s.normal, to_eye));
    let fresnel = layers_fresnel(s, l, cosine);
    let coat = layers_coat(l, to_eye);
    let dielectric = saturate(layers_max(fresnel.dielectric));
    let below = (1.0 - s.metallic) * (1.0 - dielectric) * layers_max(s.albedo);
    // The probabilities do not depend on the sampled direction, so the density is the mean of the lobes' densities.
    let weights = vec4f(
        coat,
        (1.0 - coat) * max(mix(dielectric, layers_max(fresnel.metal), s.metallic), 0.02),
        (1.0 - coat) * (below * (1.0 - l.transmission) + layers_max(l.sheen_color)),
        (1.0 - coat) * below * l.transmission,
    );
    return PathSurface(
        s,
        l,
        to_eye,
        basis,
        vec2f(stretched, alpha),
        basis_about(l.clearcoat_normal),
        path_alpha(l.clearcoat_roughness),
        weights / max(weights.x + weights.y + weights.z + weights.w, 1.0e-20),
        PATH_LAYERED,
        0.0,
        0.0,
    );
}

fn path_matte(position: vec3f, normal: vec3f, albedo: vec3f, to_eye: vec3f) -> PathSurface {
    var p: PathSurface;
    p.s.position = position;
    p.s.normal = normal;
    p.s.albedo = albedo;
    p.l.clearcoat_normal = normal;
    p.to_eye = to_eye;
    p.basis = basis_about(normal);
    p.alpha = vec2f(1.0);
    p.chances = vec4f(0.0, 0.0, 1.0, 0.0);
    p.kind = PATH_MATTE;
    return p;
}

// Returns the probability density of a direction in ggx_sample. Both directions are in the basis of the normal.
fn path_ggx_density(to_eye: vec3f, direction: vec3f, alpha: vec2f) -> f32 {
    if direction.z <= 0.0 {
        return 0.0;
    }
    let h = normalize(to_eye + direction);
    let stretched = vec3f(h.xy / alpha, h.z);
    let squares = dot(stretched, stretched);
    let distribution = 1.0 / (PI * alpha.x * alpha.y * squares * squares);
    let a = min(alpha.x, alpha.y);
    let a2 = a * a;
    let s = 1.0 + length(to_eye.xy);
    let s2 = s * s;
    let k = (1.0 - a2) * s2 / (s2 + a2 * to_eye.z * to_eye.z);
    let reach = length(vec3f(alpha * to_eye.xy, to_eye.z));
    return distribution / (2.0 * (k * to_eye.z + reach));
}

// Returns the probability density of a direction in path_sample_reflection, or in the phase function of a medium.
fn path_density(p: PathSurface, direction: vec3f) -> f32 {
    if p.kind == PATH_MEDIUM {
        return henyey_greenstein(p.anisotropy, dot(-p.to_eye, direction));
    }
    let local_eye = path_local_eye(p.basis, p.s.normal, p.to_eye);
    let local = path_in_basis(p.basis, p.s.normal, direction);
    var density = p.chances.y * path_ggx_density(local_eye, local, p.alpha) + p.chances.z * max(local.z, 0.0) / PI;
    if p.chances.x > 0.0 {
        let coat_eye = path_local_eye(p.coat_basis, p.l.clearcoat_normal, p.to_eye);
        let coat = path_in_basis(p.coat_basis, p.l.clearcoat_normal, direction);
        density += p.chances.x * path_ggx_density(coat_eye, coat, vec2f(p.coat_alpha));
    }
    return density;
}

// Returns the BRDF or phase function times the cosine.
fn path_evaluate(p: PathSurface, direction: vec3f) -> vec3f {
    if p.kind == PATH_MEDIUM {
        return vec3f(path_density(p, direction));
    }
    if p.kind == PATH_MATTE {
        return p.s.albedo * max(dot(p.s.normal, direction), 0.0) / PI;
    }
    return layers_evaluate(p.s, p.l, p.to_eye, direction);
}

// Returns the same for a light, attenuated at the shadow terminator (`brdf_terminator`).
fn path_evaluate_light(p: PathSurface, direction: vec3f) -> vec3f {
    if p.kind != PATH_LAYERED {
        return path_evaluate(p, direction);
    }
    return layers_evaluate_light(p.s, p.l, p.to_eye, direction, p.growth);
}

// Samples a direction from a reflection lobe. `choice` is less than the sum of the reflection lobes' probabilities.
fn path_sample_reflection(p: PathSurface, u: vec2f, choice: f32) -> vec3f {
    let by_coat = choice < p.chances.x;
    let by_base = !by_coat && choice < p.chances.x + p.chances.y;
    let normal = select(p.s.normal, p.l.clearcoat_normal, by_coat);
    var basis = p.basis;
    var alpha = p.alpha;
    if by_coat {
        basis = p.coat_basis;
        alpha = vec2f(p.coat_alpha);
    }
    let at = disc_point(u);
    var local = vec3f(at, sqrt(max(1.0 - dot(at, at), 0.0)));
    if by_coat || by_base {
        local = ggx_sample(path_local_eye(basis, normal, p.to_eye), alpha, u).direction;
    }
    return normalize(local.x * basis.tangent + local.y * basis.bitangent + local.z * normal);
}

struct TransmissionSample {
    direction: vec3f,
    // BSDF weight of the sample: its value times the cosine, over density and selection probability.
    weight: vec3f,
    enters: bool,
}

// Samples the transmitted direction. Volumes refract. Thin surfaces transmit straight on, with the roughness of their
// reflection. From within a volume (`is_inside`), this also samples internal reflection.
fn path_sample_transmission(p: PathSurface, is_inside: bool, u: vec2f, choice: f32) -> TransmissionSample {
    let s = p.s;
    let l = p.l;
    let is_mirror = s.roughness < REFLECTION_MIRROR;
    let alpha = select(s.roughness * s.roughness, 0.0, is_mirror);
    let basis = basis_about(s.normal);
    let local_eye = path_local_eye(basis, s.normal, p.to_eye);
    let half_vector = select(ggx_half_vector(local_eye, vec2f(alpha), 1.0, u), vec3f(0.0, 0.0, 1.0), is_mirror);
    let v_dot_h = saturate(dot(local_eye, half_vector));
    let eta = select(1.0 / max(l.volume_ior, 1.0e-3), l.volume_ior, is_inside);
    let squared = 1.0 - eta * eta * (1.0 - v_dot_h * v_dot_h);
    let across = sqrt(max(squared, 0.0));
    let refracts = l.volume_ior > 0.0;
    let is_total = refracts && squared <= 0.0;
    // Schlick's approximation takes the angle on the outer side.
    let outside = select(v_dot_h, across, is_inside);
    let fresnel = select(saturate(layers_max(layers_fresnel(s, l, outside).dielectric)), 1.0, is_total);
    let reflects = is_inside && choice < fresnel;
    let reflected = reflect(-local_eye, half_vector);
    var local = select(
        vec3f(reflected.xy, -reflected.z),
        (eta * v_dot_h - across) * half_vector - eta * local_eye,
        refracts,
    );
    local = select(local, reflected, reflects);
    // With multiple scattering, all light that hits the microfacets leaves them, on the chosen side.
    local.z = select(select(-abs(local.z), abs(local.z), reflects), local.z, brdf_is_single());
    let above = select(-local.z, local.z, reflects);
    let masking = select(1.0, ggx_masking(above, alpha), brdf_is_single() && !is_mirror);
    let under = saturate(1.0 - layers_max(l.sheen_color) * l.sheen_albedo) * (1.0 - layers_coat(l, p.to_eye));
    let entering = s.albedo * (1.0 - fresnel) * (1.0 - s.metallic) * l.transmission * under
        / max(p.chances.w, 1.0e-20);
    let leaving = select(s.albedo * l.transmission, vec3f(1.0), reflects);
    let weight = select(entering, leaving, is_inside) * select(0.0, masking, above > 0.0);
    return TransmissionSample(
        normalize(local.x * basis.tangent + local.y * basis.bitangent + local.z * s.normal),
        select(weight, vec3f(0.0), is_total && !is_inside),
        !reflects,
    );
}
