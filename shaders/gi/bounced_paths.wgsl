// bounced_paths: light that arrives along one ambient occlusion ray of each pixel, by path tracing. Still pictures
// use it in place of ambient/bounced_light.wgsl, so that their mean approaches that of the path tracer.
//
// in   hits_texture: the closest hit of the ray; the G-buffer; lights and the environment cube (group 0), the merged
//      scene (group 2), the BVHs (group 1), the table of path/path_table.wgsl, a slice of rows
// out  noisy_out: radiance towards the pixel, in two layers of words (math/rgb16.wgsl), or 0 for a miss
// One thread per pixel. The hit is the second surface of a path whose first surface is the pixel. Emissive surfaces are
// also sampled from the pixel. Lights and the environment light the pixel in other passes, so they are not.
#import "ambient/inwards.wgsl"
#import "ambient/occlusion_hit.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "math/color.wgsl"
#import "math/rgb16.wgsl"
#import "path/path_follow.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> params: PathParams;
@group(3) @binding(2) var<storage, read> table: array<u32>;
@group(3) @binding(3) var hits_texture: texture_2d<u32>;
#texels 3 4 position_texture: rgba32float
#texels 3 5 normal_texture: r32uint
#texels 3 6 ids_texture: r32uint
@group(3) @binding(7) var noisy_out: texture_storage_2d_array<r32uint, write>;

// Begins a path at a white and matte pixel, with a sample of an emissive triangle.
fn bounced_begin(pixel: vec2u, surface_id: u32, normal: vec3f) {
    let seen = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz;
    var start = shadow_ray_start(surface_id, seen);
    start.origin += inwards(gbuffer_triangle(surface_id), start);
    path_begin_along(start.origin, vec3f(0.0), false);
    state.direct_origin = start.origin;
    let p = path_matte(seen, normal, vec3f(1.0), frame_to_eye(seen));
    direct_samples[2] = path_sample_emitter(p, start, pixel, 0u);
    path_attenuate_direct(start, pixel, 0u);
}

// Turns the path towards its first hit.
fn bounced_hit(hit: OcclusionHit, normal: vec3f) -> PathHit {
    let triangle = tree_triangle(hit.leaf);
    let along = mat2x3f(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0) * hit.barycentric;
    let offset = triangle.v0 + along - state.origin;
    let t = max(length(offset), 1.0e-20);
    state.direction = offset / t;
    state.sampled_density = max(dot(normal, state.direction), 0.0) / PI;
    let surface_id = (triangle.triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, hit.is_back);
    return PathHit(surface_id, triangle.payload, hit.barycentric, t);
}

@compute @workgroup_size(8, 8)
fn bounced_paths(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    var radiance = vec3f(0.0);
    if gbuffer_is_triangle(surface_id) {
        let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
        bounced_begin(pixel, surface_id, normal);
        let words = textureLoad(hits_texture, pixel, 0).xy;
        var found = PathHit(0u, 0u, vec2f(0.0), 0.0);
        if words.x == OCCLUSION_UNHIT.x {
            // The environment lights the pixel in passes/lighting.wgsl.
            state.throughput = vec3f(0.0);
        } else {
            found = bounced_hit(occlusion_hit_unpack(words), normal);
        }
        path_follow(pixel, 1u, found, true);
        radiance = min(path_sampled().rgb, vec3f(RADIANCE_MAX));
    }
    let packed = rgb16_pack(radiance, 0u);
    textureStore(noisy_out, pixel, 0u, vec4u(packed.x, 0u, 0u, 0u));
    textureStore(noisy_out, pixel, 1u, vec4u(packed.y, 0u, 0u, 0u));
}
