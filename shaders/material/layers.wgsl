// Layers over the metallic-roughness BRDF: KHR_materials_ior, _specular, _clearcoat, _sheen, _anisotropy, _iridescence,
// _transmission and _volume. Comments give the names in the specifications.
//
// The importer defines `sheen_table_at(row: u32, column: u32) -> f32`.
#import "material/brdf.wgsl"
#import "frame/frame.wgsl"
#import "frame/gbuffer.wgsl"
#import "material/lobe_weights.wgsl"

struct Layers {
    // Reflectance of the dielectric at normal incidence, and the weight of its reflection.
    f0: vec3f,
    specular: f32,
    clearcoat_normal: vec3f,
    clearcoat: f32,
    clearcoat_roughness: f32,
    sheen_color: vec3f,
    sheen_roughness: f32,
    // E of the sheen towards the eye: its directional albedo.
    sheen_albedo: f32,
    // Ratio of multiple to single scattering of the base and of the coat, for a reflectance of 1.
    ratio: f32,
    coat_ratio: f32,
    // Directional albedo of the dielectric's reflection.
    reflected: vec3f,
    // Unit vectors along and across the direction of greatest roughness.
    along: vec3f,
    across: vec3f,
    anisotropy: f32,
    iridescence: f32,
    // Fresnel term of the film over the dielectric and over the metal, towards the eye.
    film_dielectric: vec3f,
    film_metal: vec3f,
    transmission: f32,
    // Transmittance of the volume.
    attenuation: vec3f,
    // Absorption of the volume per metre, and its index of refraction, which is 0 without a volume.
    absorption: vec3f,
    volume_ior: f32,
}

fn layers_max(v: vec3f) -> f32 {
    return max(v.r, max(v.g, v.b));
}

fn layers_grazing(cosine: f32) -> f32 {
    let x = 1.0 - saturate(cosine);
    let x2 = x * x;
    return x2 * x2 * x;
}

// Returns E of the specification: the directional albedo of the sheen.
fn sheen_albedo(cosine: f32, roughness: f32) -> f32 {
    let last = f32(SHEEN_TABLE - 1u);
    let coords = last * saturate(vec2f(
        sqrt(saturate(cosine)),
        (roughness - SHEEN_ROUGHNESS_MIN) / (1.0 - SHEEN_ROUGHNESS_MIN),
    ));
    let low = min(vec2u(coords), vec2u(SHEEN_TABLE - 2u));
    let weight = coords - vec2f(low);
    let above = mix(sheen_table_at(low.y, low.x), sheen_table_at(low.y, low.x + 1u), weight.x);
    let below =
        mix(sheen_table_at(low.y + 1u, low.x), sheen_table_at(low.y + 1u, low.x + 1u), weight.x);
    return mix(above, below, weight.y);
}

fn sheen_l(x: f32, rest: f32) -> f32 {
    let a = mix(21.5473, 25.3245, rest);
    let b = mix(3.82987, 3.32435, rest);
    let c = mix(0.19823, 0.16801, rest);
    let d = mix(-1.97760, -1.27393, rest);
    let e = mix(-4.32054, -4.85967, rest);
    return a / (1.0 + b * pow(max(x, 1.0e-6), c)) + d * x + e;
}

fn sheen_lambda(cosine: f32, alpha: f32) -> f32 {
    let rest = (1.0 - alpha) * (1.0 - alpha);
    if cosine < 0.5 {
        return exp(sheen_l(cosine, rest));
    }
    return exp(2.0 * sheen_l(0.5, rest) - sheen_l(1.0 - cosine, rest));
}

// Returns sheen_brdf, Charlie's distribution and visibility (Conty and Kulla 2017), times the cosine, which cancels the
// cosine in the visibility's denominator.
fn sheen_brdf(normal: vec3f, half_vector: vec3f, n_dot_l: f32, n_dot_v: f32, roughness: f32) -> f32 {
    let alpha = roughness * roughness;
    let sine = cross(normal, half_vector);
    let distribution = (2.0 + 1.0 / alpha) * pow(max(dot(sine, sine), 1.0e-20), 0.5 / alpha) / (2.0 * PI);
    let masking = 1.0 + sheen_lambda(n_dot_v, alpha) + sheen_lambda(n_dot_l, alpha);
    return distribution / (masking * 4.0 * n_dot_v);
}

// Returns sheen_albedo_scaling. The specification takes the larger of the two directions' albedos, which loses energy.
fn sheen_scaling(l: Layers, n_dot_l: f32) -> f32 {
    let to_light = select(0.0, sheen_albedo(n_dot_l, l.sheen_roughness), brdf_is_single());
    return saturate(1.0 - layers_max(l.sheen_color) * max(l.sheen_albedo, to_light));
}

// Returns the D and V of KHR_materials_anisotropy. The height-correlated V is stretched in the same way as D.
fn anisotropic_brdf(
    s: Surface,
    l: Layers,
    to_eye: vec3f,
    to_light: vec3f,
    half_vector: vec3f,
    alpha: f32,
) -> f32 {
    let stretched = mix(alpha, 1.0, l.anisotropy * l.anisotropy);
    let h = vec3f(
        dot(half_vector, l.along) / stretched,
        dot(half_vector, l.across) / alpha,
        dot(half_vector, s.normal),
    );
    let squares = dot(h, h);
    let distribution = 1.0 / (PI * stretched * alpha * squares * squares);
    let n_dot_l = dot(s.normal, to_light);
    let n_dot_v = abs(dot(s.normal, to_eye)) + 1.0e-5;
    let v = length(vec3f(stretched * dot(l.along, to_eye), alpha * dot(l.across, to_eye), n_dot_v));
    let w = length(vec3f(stretched * dot(l.along, to_light), alpha * dot(l.across, to_light), n_dot_l));
    return distribution * 0.5 / max(n_dot_l * v + n_dot_v * w, 1.0e-7);
}

// Returns evalSensitivity: the linear RGB response to interference, for an optical path difference in nanometres.
fn film_sensitivity(path_nm: f32, shift: vec3f) -> vec3f {
    let phase = 2.0 * PI * path_nm * 1.0e-9;
    let value = vec3f(5.4856e-13, 4.4201e-13, 5.2481e-13);
    let position = vec3f(1.6810e+06, 1.7953e+06, 2.2084e+06);
    let variance = vec3f(4.3278e+09, 9.3046e+09, 6.6121e+09);
    var xyz = value * sqrt(2.0 * PI * variance) * cos(position * phase + shift)
        * exp(-phase * phase * variance);
    xyz.x += 9.7470e-14 * sqrt(2.0 * PI * 4.5282e+09) * cos(2.2399e+06 * phase + shift.x)
        * exp(-4.5282e+09 * phase * phase);
    let rec709_from_xyz = mat3x3f(
        vec3f(3.2404542, -0.9692660, 0.0556434),
        vec3f(-1.5371385, 1.8760108, -0.2040259),
        vec3f(-0.4985314, 0.0415560, 1.0572252),
    );
    return rec709_from_xyz * (xyz / 1.0685e-7);
}

// Returns iridescent_fresnel in air, at the viewing angle (Belcour and Barla 2017).
fn film_fresnel(film_ior: f32, base_f0: vec3f, thickness_nm: f32, cosine: f32) -> vec3f {
    let refracted = sqrt(max(1.0 - (1.0 - cosine * cosine) / (film_ior * film_ior), 0.0));
    let first = (film_ior - 1.0) / (film_ior + 1.0);
    let r12 = first * first + (1.0 - first * first) * layers_grazing(cosine);
    let t121 = 1.0 - r12;
    let root = sqrt(min(base_f0 + 0.0001, vec3f(0.9999)));
    let base_ior = (1.0 + root) / (1.0 - root);
    let second = (base_ior - film_ior) / (base_ior + film_ior);
    let r23 = second * second + (1.0 - second * second) * layers_grazing(refracted);
    let shift = PI + select(vec3f(0.0), vec3f(PI), base_ior < vec3f(film_ior));
    let path = 2.0 * film_ior * thickness_nm * refracted;
    let product = clamp(r12 * r23, vec3f(1.0e-5), vec3f(0.9999));
    let rs = t121 * t121 * r23 / (1.0 - product);
    var amplitude = (rs - t121) * sqrt(product);
    var sum = r12 + rs + amplitude * 2.0 * film_sensitivity(path, shift);
    amplitude *= sqrt(product);
    sum += amplitude * 2.0 * film_sensitivity(2.0 * path, 2.0 * shift);
    return max(sum, vec3f(0.0));
}

// Fresnel terms of the dielectric and of the metal.
struct LayersFresnel {
    dielectric: vec3f,
    metal: vec3f,
}

fn layers_fresnel(s: Surface, l: Layers, cosine: f32) -> LayersFresnel {
    let grazing = layers_grazing(cosine);
    let dielectric = (l.f0 + (1.0 - l.f0) * grazing) * l.specular;
    let metal = s.albedo + (1.0 - s.albedo) * grazing;
    return LayersFresnel(
        mix(dielectric, l.film_dielectric, l.iridescence),
        mix(metal, l.film_metal, l.iridescence),
    );
}

// Completes the layers with their albedos towards the eye, computed from the other members.
fn layers_with_albedos(s: Surface, layers: Layers, to_eye: vec3f) -> Layers {
    var l = layers;
    let split = layers_split(s, l, to_eye);
    let facing = layers_fresnel(s, l, 1.0);
    l.ratio = brdf_multiple_ratio(split);
    l.reflected = brdf_albedo(facing.dielectric, layers_fresnel(s, l, 0.0).dielectric, split);
    l.coat_ratio = brdf_multiple_ratio(brdf_table_at(l.clearcoat_roughness, abs(dot(l.clearcoat_normal, to_eye))));
    return l;
}

// Returns the split sum of the base's lobe.
fn layers_split(s: Surface, l: Layers, to_eye: vec3f) -> vec2f {
    return brdf_table_at(lobe_mean_roughness(s.roughness, l.anisotropy), abs(dot(s.normal, to_eye)));
}

// Returns the fraction of light that the base's reflection leaves to the layer below.
fn layers_below(l: Layers) -> f32 {
    // A film's Fresnel term can exceed 1.
    return max(1.0 - layers_max(l.reflected), 0.0);
}

// Returns clearcoat * clearcoat_fresnel.
fn layers_coat(l: Layers, to_eye: vec3f) -> f32 {
    return l.clearcoat * (0.04 + 0.96 * layers_grazing(abs(dot(l.clearcoat_normal, to_eye))));
}

// Returns the lobes from which the surface's rays are sampled.
fn layer_lobes(s: Surface, l: Layers) -> Lobes {
    let ahead = layers_fresnel(s, l, 1.0);
    let grazing = layers_fresnel(s, l, 0.0);
    // In the plane of the shading normal.
    let along = l.along - dot(l.along, s.normal) * s.normal;
    return Lobes(
        mix(ahead.dielectric, ahead.metal, s.metallic),
        mix(grazing.dielectric, grazing.metal, s.metallic),
        saturate(1.0 - layers_max(l.sheen_color) * l.sheen_albedo),
        l.clearcoat,
        l.clearcoat_roughness,
        l.clearcoat_normal,
        along,
        l.anisotropy,
        l.transmission * (1.0 - s.metallic),
        l.volume_ior,
        l.absorption,
    );
}

// Packs and unpacks the lobes, to get the values that readers of the packed lobes see.
fn lobes_packed(lobes: Lobes, s: Surface) -> Lobes {
    return lobes_unpack(lobes_pack(lobes, s.normal), s.normal);
}

// BRDF times the cosine of each layer.
struct LayersReflected {
    // Base and sheen, below the coat.
    below: vec3f,
    coat: f32,
}

// Evaluates the layers for one light direction. `growth` is the growth of α² for highlights (material/glint.wgsl).
fn layers_reflected(s: Surface, l: Layers, to_eye: vec3f, to_light: vec3f, growth: f32) -> LayersReflected {
    let sum = to_eye + to_light;
    let half_vector = select(s.normal, normalize(sum), dot(sum, sum) > 1.0e-12);
    let n_dot_l = dot(s.normal, to_light);
    var below = vec3f(0.0);
    if n_dot_l > 0.0 {
        let n_dot_v = abs(dot(s.normal, to_eye)) + 1.0e-5;
        let roughness = max(s.roughness, ROUGHNESS_MIN);
        let alpha = glint_alpha(roughness * roughness, growth);
        var lobe = 0.0;
        if l.anisotropy > 0.0 {
            lobe = anisotropic_brdf(s, l, to_eye, to_light, half_vector, alpha);
        } else {
            lobe = brdf_ggx(s.normal, half_vector, alpha) * brdf_smith(n_dot_l, n_dot_v, alpha);
        }
        let facing = layers_fresnel(s, l, 1.0);
        let fresnel = layers_fresnel(s, l, dot(to_eye, half_vector));
        let dielectric = fresnel.dielectric * (1.0 + facing.dielectric * l.ratio);
        let metal = fresnel.metal * (1.0 + facing.metal * l.ratio);
        let entering = select(layers_below(l), 1.0 - layers_max(fresnel.dielectric), brdf_is_single());
        let diffuse = entering * (1.0 - l.transmission) * s.albedo / PI;
        below = mix(diffuse + dielectric * lobe, metal * lobe, s.metallic) * n_dot_l;
        if any(l.sheen_color > vec3f(0.0)) {
            below *= sheen_scaling(l, n_dot_l);
            below += l.sheen_color * sheen_brdf(s.normal, half_vector, n_dot_l, n_dot_v, l.sheen_roughness);
        }
    }
    let coat_n_dot_l = dot(l.clearcoat_normal, to_light);
    var coat = 0.0;
    if l.clearcoat > 0.0 && coat_n_dot_l > 0.0 {
        let roughness = max(l.clearcoat_roughness, ROUGHNESS_MIN);
        let alpha = glint_alpha(roughness * roughness, growth);
        let n_dot_v = abs(dot(l.clearcoat_normal, to_eye)) + 1.0e-5;
        coat = brdf_ggx(l.clearcoat_normal, half_vector, alpha) * brdf_smith(coat_n_dot_l, n_dot_v, alpha)
            * coat_n_dot_l * (1.0 + l.coat_ratio);
    }
    return LayersReflected(below, coat);
}

// Returns the sum over the layers of the BRDF times the cosine, for unit vectors to the eye and to the light.
fn layers_evaluate(s: Surface, l: Layers, to_eye: vec3f, to_light: vec3f) -> vec3f {
    let reflected = layers_reflected(s, l, to_eye, to_light, 0.0);
    return mix(reflected.below, vec3f(reflected.coat), layers_coat(l, to_eye));
}

// Returns the same for a light, attenuated at the shadow terminator (`brdf_terminator`).
fn layers_evaluate_light(s: Surface, l: Layers, to_eye: vec3f, to_light: vec3f, growth: f32) -> vec3f {
    let reflected = layers_reflected(s, l, to_eye, to_light, growth);
    let below = reflected.below * brdf_terminator(s.smooth_normal, s.normal, to_light);
    let coat = reflected.coat * brdf_terminator(s.smooth_normal, l.clearcoat_normal, to_light);
    return mix(below, vec3f(coat), layers_coat(l, to_eye));
}

// Returns the radiance of the environment that the base reflects. With anisotropy, the microfacet normals spread along
// the direction of maximum roughness. The loop divides GGX's distribution of slopes along it into equal parts, and
// samples the centre of each. Each sample reads the environment at the roughness across that direction, widened until
// neighbouring samples overlap. Samples are weighted by the cosine, like in the prefiltered cube. An implementation
// note of KHR_materials_anisotropy suggests a single reflection about a bent normal. That reflection is as far from the
// integral of the BRDF as the reflection about the normal itself.
fn layers_prefiltered(s: Surface, l: Layers, to_eye: vec3f) -> vec3f {
    let alpha = s.roughness * s.roughness;
    let stretched = mix(alpha, 1.0, l.anisotropy * l.anisotropy);
    let mirrors = select(1u, 16u, l.anisotropy > 0.0);
    let width = 1.5 * stretched / f32(mirrors);
    let roughness = select(s.roughness, sqrt(sqrt(alpha * alpha + width * width)), l.anisotropy > 0.0);
    var sum = vec3f(0.0);
    var weights = 0.0;
    for (var i = 0u; i < mirrors; i++) {
        let share = f32(2u * i + 1u) / f32(mirrors) - 1.0;
        let slope = stretched * share / sqrt(1.0 - share * share);
        let facet = select(s.normal, normalize(s.normal + slope * l.along), l.anisotropy > 0.0);
        let to_light = reflect(-to_eye, facet);
        let weight = max(dot(s.normal, to_light), 1.0e-4);
        sum += weight * environment_prefiltered(to_light, roughness);
        weights += weight;
    }
    return sum / weights;
}

// Returns emission and environment lighting, attenuated by the ambient visibility, and the traced reflections. `lobes`
// are the lobes that the rays were sampled from.
fn layers_ambient(
    s: Surface,
    l: Layers,
    lobes: Lobes,
    to_eye: vec3f,
    ambient: AmbientVisibility,
    reflected: TracedReflection,
) -> vec3f {
    let n_dot_v = saturate(abs(dot(s.normal, to_eye)));
    let traced = reflected.share * reflection_share(s);
    let split = layers_split(s, l, to_eye);
    let facing = layers_fresnel(s, l, 1.0);
    let grazing = layers_fresnel(s, l, 0.0);
    let dielectric = brdf_albedo(facing.dielectric, grazing.dielectric, split);
    let metal = brdf_albedo(facing.metal, grazing.metal, split);
    let specular = mix(dielectric, metal, s.metallic);
    let scattered = (1.0 - s.metallic) * layers_below(l) * (1.0 - l.transmission) * s.albedo;
    let diffuse_light = ambient_diffuse(ambient, s.albedo);
    let mirrored = ambient_specular(ambient, layers_prefiltered(s, l, to_eye), n_dot_v, s.roughness);
    var sum = (1.0 - traced) * specular * mirrored + scattered * diffuse_light;
    sum = brdf_occlusion(s, ambient) * (sum * saturate(1.0 - layers_max(l.sheen_color) * l.sheen_albedo)
        + l.sheen_color * min(l.sheen_albedo, 1.0) * ambient_diffuse(ambient, vec3f(0.0)));
    let coat_n_dot_v = saturate(dot(l.clearcoat_normal, to_eye));
    let coat_open = environment_prefiltered(reflect(-to_eye, l.clearcoat_normal), l.clearcoat_roughness);
    let coat_mirrored = ambient_specular(ambient, coat_open, coat_n_dot_v, l.clearcoat_roughness);
    let coat_traced = reflected.share * reflection_share_of(l.clearcoat_roughness);
    let coat_untraced = (1.0 - coat_traced) * brdf_occlusion(s, ambient);
    let coat = coat_untraced * coat_mirrored;
    let weights = lobe_weights(lobes, s, to_eye);
    return mix(s.emissive + sum, coat, layers_coat(l, to_eye))
        + reflected.share * lobe_weights_sum(weights) * reflected.radiance;
}

// Returns the transmittance of the surface for the background straight behind it, without refraction or blur.
fn layers_transmittance(s: Surface, l: Layers, to_eye: vec3f) -> vec3f {
    let entering = layers_below(l) * (1.0 - s.metallic) * l.transmission;
    let sheen = saturate(1.0 - layers_max(l.sheen_color) * l.sheen_albedo);
    return s.albedo * l.attenuation * max(entering, 0.0) * sheen * (1.0 - layers_coat(l, to_eye));
}
