// reflection_rays: traces what surfaces reflect, through the trees.
//
// in   G-buffer (position, normal, albedo, ids), of the picture or of the hits before, and the rays that came
//      there; the list that reflection_classify writes; the merged scene (group 2), the trees (group 1)
// out  hit_ids_out: the triangle that is hit, plus 1, with GBUFFER_HIT, and GBUFFER_BACK where its back is seen;
//      0 where nothing is hit
//      hits_out: weights of its second and third vertex, as bits
//      rays_out: the ray's direction, what it carries to the picture, and its width at the hit
//      reflected_words: at the first bounce, the distance; of rays that hit nothing the environment is added
// One thread per entry of a batch of the list. Directions are those of the GGX lobe (common/ggx_sample.wgsl), with
// one point of the shared sequence (common/sampling.wgsl) a frame, whose dimension is the bounce's. A direction below the
// triangle, from where no light can come, is mirrored at it.
#import "common/alpha.wgsl"
#import "common/basis.wgsl"
#import "common/brdf.wgsl"
#import "common/bvh.wgsl"
#import "common/dispatch.wgsl"
#import "common/ggx_sample.wgsl"
#import "common/ray_list.wgsl"
#import "common/reflected.wgsl"
#import "common/reflection_params.wgsl"
#import "common/reflection_ray.wgsl"
#import "common/sampling.wgsl"
#import "common/shadow_start.wgsl"
#import "common/unseen.wgsl"

@group(3) @binding(0) var<uniform> params: ReflectionParams;
// A uniform, because eight storage buffers are bound already.
@group(3) @binding(1) var<uniform> batch: ReflectionBatch;
@group(3) @binding(2) var list_texture: texture_2d<u32>;
@group(3) @binding(3) var position_texture: texture_2d<f32>;
@group(3) @binding(4) var normal_texture: texture_2d<u32>;
@group(3) @binding(5) var albedo_texture: texture_2d<u32>;
@group(3) @binding(6) var ids_texture: texture_2d<u32>;
@group(3) @binding(7) var ray_texture: texture_2d<u32>;
@group(3) @binding(8) var<storage, read_write> reflected_words: array<vec2u>;
@group(3) @binding(9) var hit_ids_out: texture_storage_2d<r32uint, write>;
@group(3) @binding(10) var hits_out: texture_storage_2d<rg32uint, write>;
@group(3) @binding(11) var rays_out: texture_storage_2d<rgba32uint, write>;

struct ReflectionBatch {
    groups: vec3u,
    count: u32,
    first: u32,
}

// A number from 0 to 1: surfaces whose alpha is below it let this ray pass.
var<private> least_alpha: f32;

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    let header = ALPHA_HEADER * triangle.payload;
    let mode = alpha[header + ALPHA_MODE];
    let value = alpha_value(header, triangle.triangle, barycentric);
    if mode >= ALPHA_BLEND {
        return mode == ALPHA_BLEND && value > least_alpha;
    }
    return value >= bitcast<f32>(alpha[header + ALPHA_CUTOFF]);
}

// The nearest surface that is seen from where the ray comes from: single-sided materials have no back.
fn nearest_seen(ray_in: Ray) -> BvhLeafHit {
    var ray = ray_in;
    var hit: BvhLeafHit;
    // Enough for what lies behind one another in closed rooms; a bound, so that nothing hangs.
    for (var pass_through = 0u; pass_through < 16u; pass_through++) {
        hit = bvh_traverse(ray, frame.leaf_cutoff, false);
        if hit.leaf == BVH_MISS {
            break;
        }
        let triangle = tree_triangle(hit.leaf);
        let has_back = alpha[ALPHA_HEADER * triangle.payload + ALPHA_DOUBLE_SIDED] != 0u;
        if has_back || !shows_back(triangle, ray.direction) {
            break;
        }
        ray.t_min = hit.t;
        hit.leaf = BVH_MISS;
    }
    return hit;
}

fn shows_back(triangle: LeafTriangle, direction: vec3f) -> bool {
    return dot(cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0), direction) > 0.0;
}

@compute @workgroup_size(RAY_BLOCK)
fn reflection_rays(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let entry = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    if entry >= batch.count {
        return;
    }
    let pixel = ray_list_pixel(textureLoad(list_texture, ray_list_texel(batch.first + entry), 0).r);
    let position = textureLoad(position_texture, pixel, 0);
    let seen = textureLoad(ids_texture, pixel, 0).r;
    let s = gbuffer_unpack(
        position,
        textureLoad(normal_texture, pixel, 0).r,
        textureLoad(albedo_texture, pixel, 0).r,
        0u,
    );
    let is_first = unseen_zero(f32(pixel.x)) + params.bounce == 0u;
    var arriving = ReflectionRay(-frame_to_eye(s.position), vec3f(1.0), frame_pixel_width(s.position));
    if !is_first {
        arriving = reflection_ray_unpack(textureLoad(ray_texture, pixel, 0));
    }
    let to_eye = -arriving.direction;
    let basis = basis_about(s.normal);
    // A normal texture may turn the surface away from the eye.
    let cosine = dot(to_eye, s.normal);
    let local_eye = vec3f(dot(to_eye, basis.tangent), dot(to_eye, basis.bitangent), max(abs(cosine), 1.0e-4));
    let alpha2 = s.roughness * s.roughness;
    // Below this the lobe is narrower than the steps of f32 in what follows.
    let is_mirror = s.roughness < REFLECTION_MIRROR;
    let u = sampling_point(pixel, frame.sample_index, SAMPLE_REFLECTIONS + params.bounce);
    let sampled = ggx_sample(normalize(local_eye), select(alpha2, 0.0, is_mirror), u);
    let start = shadow_ray_start(seen, s.position);
    var direction = sampled.direction.x * basis.tangent + sampled.direction.y * basis.bitangent
        + sampled.direction.z * s.normal;
    let n_dot_l = sampled.direction.z;
    let below = dot(direction, start.geometric_normal);
    direction = normalize(direction - min(2.0 * below, 0.0) * start.geometric_normal);

    let n_dot_v = normalize(local_eye).z;
    let grazing = pow(1.0 - saturate(dot(normalize(local_eye), sampled.half_vector)), 5.0);
    let f0 = mix(vec3f(0.04), s.albedo, s.metallic);
    let fresnel = f0 + (1.0 - f0) * grazing;
    let lobe = select(
        brdf_smith(n_dot_l, n_dot_v, alpha2) * n_dot_l * sampled.inverse_density,
        1.0,
        is_mirror,
    );
    var weight = select(vec3f(0.0), fresnel * lobe, n_dot_l > 0.0);
    if is_first {
        weight /= max(brdf_once(s, saturate(cosine)), vec3f(1.0e-4));
    } else {
        weight *= reflection_share(s);
    }
    let carried = arriving.carried * weight;

    var hit = BvhLeafHit(0.0, vec2f(0.0), BVH_MISS, 0u);
    let counts = max(carried.r, max(carried.g, carried.b)) > REFLECTION_LEAST;
    if counts {
        least_alpha = fract(u.x * 59.0 + u.y);
        hit = nearest_seen(Ray(start.origin, 0.0, direction, 1.0e30));
    }
    let word = pixel.y * frame.size.x + pixel.x;
    if hit.leaf == BVH_MISS {
        let sky = environment_prefiltered(direction, params.blur * s.roughness);
        var found = vec4f(0.0, 0.0, 0.0, REFLECTION_FAR);
        if !is_first {
            found = reflected_unpack(reflected_words[word]);
        }
        let radiance = found.rgb + select(vec3f(0.0), carried * sky, counts);
        reflected_words[word] = reflected_pack(radiance, found.a);
        textureStore(hit_ids_out, pixel, vec4u(0u));
        return;
    }
    if is_first {
        reflected_words[word] = reflected_pack(vec3f(0.0), hit.t);
    }
    let triangle = tree_triangle(hit.leaf);
    let back = select(0u, GBUFFER_BACK, shows_back(triangle, direction));
    let spread = frame.pixel_side.y + params.blur * alpha2;
    let ray = ReflectionRay(direction, carried, arriving.width + spread * hit.t);
    textureStore(hit_ids_out, pixel, vec4u((triangle.triangle + 1u) | GBUFFER_HIT | back, 0u, 0u, 0u));
    textureStore(hits_out, pixel, vec4u(bitcast<vec2u>(hit.barycentric), 0u, 0u));
    textureStore(rays_out, pixel, reflection_ray_pack(ray));
}
