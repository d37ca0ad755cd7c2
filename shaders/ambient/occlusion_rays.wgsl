// occlusion_rays: ambient occlusion by rays through the BVHs.
//
// in   G-buffer (position, normal, ids), the merged scene (group 2), the BVHs (group 1), a slice of rows
// out  noisy_out: this frame's signal in two layers: the means over the rays of the blocked fraction, and of the
//      direction times the blocked fraction. With WEIGHS_ENVIRONMENT, the second is the blocked light of the environment
//      (ambient/blocked_environment.wgsl). Both are zero where there is no triangle.
//      hits_out: the closest hit of one of the rays, if light bounces there (ambient/occlusion_hit.wgsl)
// One thread per pixel. Directions are cosine-weighted about the shading normal. No light can come from below the
// surface's horizon (shadow/shadow_start.wgsl), so a direction below the horizon is mirrored at it. A convex body with
// smooth normals is therefore unoccluded everywhere, and within a closed room every ray is occluded.
//
// Directions use the shared sequence (math/sampling.wgsl), whose point k counts the pixel's rays so far. They are
// stratified over the frames, and between neighbouring pixels within a frame.
#import "bvh/bvh_rays.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "ambient/hemisphere.wgsl"
#import "ambient/blocked_environment.wgsl"
#import "ambient/occlusion_hit.wgsl"
#import "math/sampling.wgsl"
#import "shadow/shadow_ray.wgsl"
#import "denoise/signal.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
#texels 3 1 position_texture: rgba32float
#texels 3 2 normal_texture: r32uint
#texels 3 3 ids_texture: r32uint
@group(3) @binding(4) var<uniform> params: OcclusionParams;
@group(3) @binding(5) var noisy_out: texture_storage_2d_array<r32uint, write>;
// A placeholder if no hits are stored.
@group(3) @binding(6) var hits_out: texture_storage_2d<rg32uint, write>;

// True if the closest hit of a ray is stored. The other rays are any-hit rays.
override RECORDS_HIT: bool = true;
// True if the environment is weighted by its radiance.
override WEIGHS_ENVIRONMENT: bool = true;

fn store_hit(pixel: vec2u, hit: vec2u) {
    if all(pixel < textureDimensions(hits_out)) {
        textureStore(hits_out, pixel, vec4u(hit, 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn occlusion_rays(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    if !gbuffer_is_triangle(surface_id) {
        textureStore(noisy_out, pixel, 0u, vec4u(0u));
        textureStore(noisy_out, pixel, 1u, vec4u(0u));
        store_hit(pixel, OCCLUSION_UNHIT);
        return;
    }
    let triangle = gbuffer_triangle(surface_id);
    var start = shadow_ray_start(surface_id, gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz);
    start.origin += inwards(triangle, start);
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    var mean = vec3f(0.0);
    if WEIGHS_ENVIRONMENT {
        mean = environment_diffuse(normal);
        ray_starts_path = params.starts_paths != 0u;
    }
    var hits = 0.0;
    var occluded = vec3f(0.0);
    var first_hit = OCCLUSION_UNHIT;
    for (var ray = 0u; ray < params.rays; ray++) {
        let k = params.index * params.rays + ray;
        let along = hemisphere_direction(start, normal, sampling_point(pixel, k, SAMPLE_OCCLUSION));
        ray_seed = pcg_hash(pixel.x + pcg_hash(pixel.y + pcg_hash(k)));
        let is_recorded = RECORDS_HIT && ray == params.recorded_ray;
        let hit = shadow_ray_hit(start, along, params.reach, !is_recorded);
        hits += hit.blocked;
        if !WEIGHS_ENVIRONMENT {
            occluded += hit.blocked * along;
        } else if hit.blocked > 0.0 {
            occluded += hit.blocked * blocked_environment(along, mean);
        }
        if is_recorded && hit.t >= 0.0 {
            first_hit = occlusion_hit_pack(occlusion_hit(hit, along));
        }
    }
    store_hit(pixel, first_hit);
    let found = signal_pack(vec4f(hits, occluded) / f32(params.rays));
    textureStore(noisy_out, pixel, 0u, vec4u(found.x, 0u, 0u, 0u));
    textureStore(noisy_out, pixel, 1u, vec4u(found.y, 0u, 0u, 0u));
}
