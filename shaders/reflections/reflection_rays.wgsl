// reflection_rays: traces reflection and transmission rays through the BVHs.
//
// in   G-buffer (position, normal, albedo, ids) and lobes, of the picture or of the previous bounce's hits, and the
//      rays that led to the hits; the list from reflection_classify; the merged scene (group 2), the BVHs (group 1);
//      the light of the fog
// out  hit_ids_out: index of the triangle hit plus 1, with GBUFFER_HIT, and GBUFFER_BACK for a back face; 0 for a miss
//      hits_out: the hit and its ray (reflections/reflection_ray.wgsl)
//      reflected_words: at the first bounce, the hit distance; at any bounce, the environment is added for a miss, and
//      the light that fog scatters along the ray
//      sent_out: at the first bounce, the direction and its density (reflections/sent_ray.wgsl), if they are needed
// One thread per list entry of a batch. A surface with several lobes selects one of them for its ray. The probability
// of the coat is its fraction of the lobes' response to uniform light. The Fresnel term decides between reflection and
// transmission. Directions are sampled from the GGX lobe (material/ggx_sample.wgsl), with one point of the shared
// sequence (math/sampling.wgsl) per frame. Each bounce has its own dimension of the sequence. A direction on the wrong
// side of the triangle is mirrored at it. Volumes refract transmitted rays. Thin surfaces transmit them straight on.
// Rays of the last bounce pass through clear surfaces, so that they show the surfaces beyond.
#import "material/alpha.wgsl"
#import "math/basis.wgsl"
#import "material/brdf.wgsl"
#import "bvh/bvh_rays.wgsl"
#import "bvh/dispatch.wgsl"
#import "fog/fog_along.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "material/ggx_sample.wgsl"
#import "material/lobe_weights.wgsl"
#import "material/lobes_at.wgsl"
#import "frame/ray_list.wgsl"
#import "reflections/reflected.wgsl"
#import "reflections/reflection_params.wgsl"
#import "reflections/reflection_ray.wgsl"
#import "math/sampling.wgsl"
#import "reflections/sent_ray.wgsl"
#import "shadow/shadow_start.wgsl"

@group(3) @binding(0) var<uniform> params: ReflectionParams;
// A uniform, because the limit of eight storage buffers is reached.
@group(3) @binding(1) var<uniform> batch: ReflectionBatch;
@group(3) @binding(2) var list_texture: texture_2d<u32>;
@group(3) @binding(3) var position_texture: texture_2d<f32>;
@group(3) @binding(4) var normal_texture: texture_2d<u32>;
@group(3) @binding(5) var albedo_texture: texture_2d<u32>;
@group(3) @binding(6) var ids_texture: texture_2d<u32>;
@group(3) @binding(7) var layers_texture: texture_2d<u32>;
@group(3) @binding(8) var glass_texture: texture_2d<u32>;
@group(3) @binding(9) var arriving_texture: texture_2d_array<u32>;
@group(3) @binding(10) var<storage, read_write> reflected_words: array<vec2u>;
@group(3) @binding(11) var hit_ids_out: texture_storage_2d<r32uint, write>;
@group(3) @binding(12) var hits_out: texture_storage_2d_array<rgba32uint, write>;
@group(3) @binding(13) var sent_out: texture_storage_2d<rg32uint, write>;
@group(3) @binding(14) var<uniform> fog: FogParams;
@group(3) @binding(15) var fog_light: texture_2d_array<f32>;
@group(3) @binding(16) var fog_sampler: sampler;

struct ReflectionBatch {
    groups: vec3u,
    count: u32,
    first: u32,
}

// Random number in [0, 1]. The ray passes through blended surfaces whose alpha is below it.
var<private> least_alpha: f32;
// True if the ray ignores clear surfaces.
var<private> passes_clear: bool;

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    let header = ALPHA_HEADER * triangle.payload;
    let mode = tables[header + ALPHA_MODE];
    if mode == ALPHA_CLEAR && passes_clear {
        return false;
    }
    let value = alpha_value(header, triangle.triangle, barycentric);
    let blends = tables[header + ALPHA_BLENDED] != 0u;
    return select(value >= bitcast<f32>(tables[header + ALPHA_CUTOFF]), value > least_alpha, blends);
}

fn is_clear(triangle: LeafTriangle) -> bool {
    return tables[ALPHA_HEADER * triangle.payload + ALPHA_MODE] == ALPHA_CLEAR;
}

fn shows_back(triangle: LeafTriangle, direction: vec3f) -> bool {
    return dot(cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0), direction) > 0.0;
}

struct SeenHit {
    hit: BvhLeafHit,
    // Distance in metres from the start to where the ray leaves the volume that it is in.
    inside: f32,
}

// Returns the nearest surface that is visible from the ray's origin. Back faces of single-sided materials are skipped.
// Rays inside a volume (`inside`) record where they leave it, even if they pass through that surface.
fn nearest_seen(ray_in: Ray, passes: bool, inside: bool) -> SeenHit {
    var ray = ray_in;
    var found: SeenHit;
    passes_clear = passes && !inside;
    // Enough for consecutive back faces in closed rooms. The bound guarantees that the loop ends.
    for (var pass_through = 0u; pass_through < 16u; pass_through++) {
        found.hit = bvh_traverse(ray, frame.leaf_cutoff, false);
        if found.hit.leaf == BVH_MISS {
            break;
        }
        let triangle = tree_triangle(found.hit.leaf);
        let has_back = tables[ALPHA_HEADER * triangle.payload + ALPHA_DOUBLE_SIDED] != 0u;
        if has_back || !shows_back(triangle, ray.direction) {
            found.inside = select(found.inside, found.hit.t, found.inside == 0.0);
            if !passes || passes_clear || !is_clear(triangle) {
                break;
            }
            passes_clear = true;
        }
        ray.t_min = found.hit.t;
        found.hit.leaf = BVH_MISS;
    }
    return found;
}

// Sampled direction of a ray.
struct LobeSample {
    direction: vec3f,
    // BRDF weight of the sample.
    weight: vec3f,
    roughness: f32,
    // True if the ray continues beyond the surface, and true if it continues within the surface's volume.
    enters: bool,
    inside: bool,
    // The fields of SentRay. `lobe` is 0 for mirrors and for layered surfaces, which choose among lobes.
    lobe: f32,
    density: f32,
}

// Returns the cosine between the refracted direction and the microfacet normal, by Snell's law. It is 0 for total
// internal reflection.
fn cosine_across(cosine: f32, eta: f32) -> f32 {
    return sqrt(max(1.0 - eta * eta * (1.0 - cosine * cosine), 0.0));
}

fn lobe_max(v: vec3f) -> f32 {
    return max(v.r, max(v.g, v.b));
}

// Samples a lobe and a direction. `w` weights the lobes, and `choice` in [0, 1] selects one. `is_back` is set on the
// volume's side of the triangle. The coat is selected by its response to uniform light. The base reflects or transmits
// by the Fresnel term at the sampled microfacet. No ray then carries more than 1, and light that cannot leave a volume
// is always reflected.
fn sample_lobe(
    l: Lobes,
    s: Surface,
    w: LobeWeights,
    to_eye: vec3f,
    is_back: bool,
    u: vec2f,
    choice: f32,
) -> LobeSample {
    let under = lobe_under(l, to_eye);
    let is_inside = is_back && l.ior > 0.0;
    // Glass may reflect any part of the light that passes its coat.
    let below = select(lobe_max(w.base) + lobe_max(w.through), under, l.transmission > 0.0);
    let all = w.coat + below;
    let by_coat = choice * all < w.coat;
    let normal = select(s.normal, l.coat_normal, by_coat);
    let roughness = select(s.roughness, l.coat_roughness, by_coat);
    // Below this roughness, the lobe is narrower than the precision of the f32 arithmetic that follows.
    let is_mirror = roughness < REFLECTION_MIRROR;
    let alpha2 = select(roughness * roughness, 0.0, is_mirror);
    let stretches = !by_coat && l.anisotropy > 0.0 && !is_mirror;
    let stretched = select(alpha2, mix(alpha2, 1.0, l.anisotropy * l.anisotropy), stretches);
    var basis = basis_about(normal);
    if stretches {
        basis = Basis(l.along, cross(normal, l.along));
    }
    // A normal texture may tilt the normal away from the eye.
    let cosine = dot(to_eye, normal);
    let local_eye =
        normalize(vec3f(dot(to_eye, basis.tangent), dot(to_eye, basis.bitangent), max(abs(cosine), 1.0e-4)));
    let v = length(vec3f(stretched * local_eye.x, alpha2 * local_eye.y, local_eye.z));

    var sampled = ggx_sample(local_eye, vec2f(stretched, alpha2), u);
    var facet = sampled.half_vector;
    let refracts = l.ior > 0.0 && l.transmission > 0.0 && !by_coat;
    if refracts {
        // Any visible microfacet may refract. Transmission ignores anisotropy.
        facet = ggx_half_vector(local_eye, vec2f(alpha2), 1.0, u);
        let half_vector = ggx_half_vector(local_eye, vec2f(stretched, alpha2), 1.0, u);
        let mirrored = 2.0 * dot(local_eye, half_vector) * half_vector - local_eye;
        sampled = GgxSample(mirrored, half_vector, 2.0 * (local_eye.z + v));
    }
    // Within a volume, Schlick's approximation takes the angle on the outer side.
    let eta = select(1.0 / max(l.ior, 1.0e-3), l.ior, is_back);
    let reflecting = saturate(dot(local_eye, sampled.half_vector));
    let reflecting_across = cosine_across(reflecting, eta);
    let entering = saturate(dot(local_eye, facet));
    let entering_across = cosine_across(entering, eta);
    let is_total = refracts && is_inside && entering_across == 0.0;
    let fresnel = lobe_fresnel(l, select(reflecting, reflecting_across, is_inside));
    let mirrored = select(reflection_share(s) * fresnel, vec3f(1.0), is_total);
    let entered = lobe_entering(l, s, select(entering, entering_across, is_inside));
    let passes = select(entered, vec3f(0.0), refracts && entering_across == 0.0);
    let sum = lobe_max(mirrored) + lobe_max(passes);
    let passed = (choice * all - w.coat) * sum >= lobe_max(mirrored) * below;
    let through = passed && !by_coat && lobe_max(passes) > 0.0;
    let bends = refracts && through;

    let refracted = (eta * entering - entering_across) * facet - eta * local_eye;
    var local = select(sampled.direction, refracted, bends);
    // With multiple scattering, all light that hits the microfacets of glass leaves them, on the selected side.
    let keeps_all = refracts && !brdf_is_single();
    local.z = select(local.z, select(abs(local.z), -abs(local.z), bends), keeps_all);
    let above = select(local.z, -local.z, bends);
    let m = length(vec3f(stretched * local.x, alpha2 * local.y, local.z));
    let smith = 0.5 / max(above * v + local_eye.z * m, 1.0e-7);
    let lobe = select(
        select(smith * above * sampled.inverse_density, ggx_masking(above, alpha2), bends),
        1.0,
        is_mirror || keeps_all,
    );
    var weight = vec3f(all * (1.0 + w.coat_ratio));
    if !by_coat {
        let chosen = select(mirrored, passes, through);
        var gain = lobe_gain(l, s, w.base_ratio, select(reflecting, reflecting_across, is_inside));
        // Thin surfaces transmit the same fraction at all microfacets.
        gain = select(gain, vec3f(1.0 + w.base_ratio), through);
        gain = select(gain, vec3f(1.0), refracts);
        weight = chosen * gain * (sum * under * all / max(lobe_max(chosen) * below, 1.0e-20));
    }
    weight *= select(0.0, lobe, above > 0.0);
    // Thin surfaces transmit straight on, with the roughness of their reflection.
    local.z = select(local.z, -local.z, through && !refracts);
    let direction = local.x * basis.tangent + local.y * basis.bitangent + local.z * normal;
    let inside = l.ior > 0.0 && (through != is_back);
    let is_shared = !s.layered && !is_mirror && above > 0.0;
    let half_vector = select(sampled.half_vector, facet, bends);
    let density = brdf_ggx(vec3f(0.0, 0.0, 1.0), half_vector, max(alpha2, 1.0e-4)) / sampled.inverse_density;
    return LobeSample(direction, weight, roughness, through, inside, select(0.0, lobe, is_shared), density);
}

@compute @workgroup_size(RAY_BLOCK)
fn reflection_rays(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let entry = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    if entry >= batch.count {
        return;
    }
    let pixel = ray_list_pixel(textureLoad(list_texture, ray_list_texel(batch.first + entry), 0).r);
    let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel);
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    let s = gbuffer_unpack(
        position,
        textureLoad(normal_texture, pixel, 0).r,
        textureLoad(albedo_texture, pixel, 0).r,
        0u,
    );
    // Lists of complete tiles, for cost comparisons, include pixels that cast no ray.
    if !sends_ray(pixel, surface_id, s) {
        return;
    }
    let is_first = params.bounce == 0u;
    var arriving = ReflectionRay(-frame_to_eye(s.position), vec3f(1.0), frame_pixel_width(s.position));
    if !is_first {
        arriving = reflection_ray_unpack(textureLoad(arriving_texture, pixel, HITS_RAY, 0));
    }
    let to_eye = -arriving.direction;
    let l = lobes_at(pixel, s);
    let w = lobe_weights(l, s, to_eye);
    // The sample that selects the alpha threshold and the lobe has its own dimension.
    let dimension = params.dimension;
    let u = sampling_point(pixel, frame.sample_index, SAMPLE_REFLECTIONS + dimension);
    let choice = sampling_point(pixel, frame.sample_index, SAMPLE_LOBES + dimension);
    let start = shadow_ray_start(surface_id, s.position);
    let ray_sent = sample_lobe(l, s, w, to_eye, start.is_back, u, choice.x);
    // Triangle normal on the side of the new ray.
    let outward = select(start.geometric_normal, -start.geometric_normal, ray_sent.enters);
    let origin = select(start.origin, 2.0 * start.position - start.origin, ray_sent.enters);
    let below = dot(ray_sent.direction, outward);
    let direction = normalize(ray_sent.direction - min(2.0 * below, 0.0) * outward);
    if is_first && all(pixel < textureDimensions(sent_out)) {
        // Below this, the quantisation of the stored weight would lose too much.
        let is_shared = ray_sent.lobe > 0.01 && below > 0.0;
        let words = sent_ray_pack(SentRay(direction, ray_sent.lobe, ray_sent.density));
        textureStore(sent_out, pixel, vec4u(select(vec2u(0u), words, is_shared), 0u, 0u));
    }
    var weight = ray_sent.weight;
    if is_first {
        weight /= max(lobe_weights_sum(w), vec3f(1.0e-9));
    }
    var carried = arriving.carried * weight;

    var found: SeenHit;
    found.hit.leaf = BVH_MISS;
    let counts = max(carried.r, max(carried.g, carried.b)) > REFLECTION_MIN;
    if counts {
        least_alpha = choice.y;
        let is_last = params.is_last != 0u;
        found = nearest_seen(Ray(origin, 0.0, direction, 1.0e30), is_last, ray_sent.inside);
    }
    if ray_sent.inside {
        carried *= exp(-l.absorption * found.inside);
    }
    let hit = found.hit;
    let word = pixel.y * frame.size.x + pixel.x;
    var scattered = vec3f(0.0);
    if fog_is_enabled() && !ray_sent.inside && counts {
        let media = fog_along_ray(origin, direction, select(hit.t, 1.0e30, hit.leaf == BVH_MISS));
        scattered = carried * media.scattered;
        carried *= media.transmittance;
    }
    if hit.leaf == BVH_MISS {
        let sky = environment_prefiltered(direction, params.blur * ray_sent.roughness);
        var radiance = vec4f(0.0, 0.0, 0.0, REFLECTION_FAR);
        if !is_first {
            radiance = reflected_unpack(reflected_words[word]);
        }
        let sum = radiance.rgb + scattered + select(vec3f(0.0), carried * sky, counts);
        reflected_words[word] = reflected_pack(sum, radiance.a);
        textureStore(hit_ids_out, pixel, vec4u(0u));
        return;
    }
    if is_first {
        reflected_words[word] = reflected_pack(scattered, hit.t);
    } else if any(scattered > vec3f(0.0)) {
        let before = reflected_unpack(reflected_words[word]);
        reflected_words[word] = reflected_pack(before.rgb + scattered, before.a);
    }
    let triangle = tree_triangle(hit.leaf);
    let back = select(0u, GBUFFER_BACK, shows_back(triangle, direction));
    let id = (triangle.triangle + 1u) | GBUFFER_HIT | back;
    let spread = frame.pixel_side.y + params.blur * ray_sent.roughness * ray_sent.roughness;
    let ray = ReflectionRay(direction, carried, arriving.width + spread * hit.t);
    textureStore(hit_ids_out, pixel, vec4u(id, 0u, 0u, 0u));
    let at = ReflectionHit(id, triangle.payload, hit.barycentric);
    textureStore(hits_out, pixel, HITS_TRIANGLE, reflection_hit_pack(at));
    textureStore(hits_out, pixel, HITS_RAY, reflection_ray_pack(ray));
}
