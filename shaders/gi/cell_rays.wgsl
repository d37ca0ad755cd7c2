// cell_rays: samples the light at the listed cells of the world cache.
//
// in   list: cells and their hits (gi/cell_list.wgsl); lights and the environment (group 0), the BVHs (group 1), the
//      merged scene (group 2), the path tracer's table
// out  light_out: light of one light (two words of math/rgb16.wgsl), then light of an emissive triangle, and of what a
//      cosine-distributed ray meets: the environment, or emission
//      hit_out: hit of that ray (ambient/occlusion_hit.wgsl), or a miss
// One thread per entry of the list. Light is the mean radiance over the cosine-weighted hemisphere.
#import "ambient/blocked_environment.wgsl"
#import "ambient/bounced.wgsl"
#import "ambient/hemisphere.wgsl"
#import "ambient/inwards.wgsl"
#import "bvh/bvh_rays.wgsl"
#import "environment/environment.wgsl"
#import "gi/cell_hit.wgsl"
#import "gi/cell_params.wgsl"
#import "gi/emitter_light.wgsl"
#import "math/rgb16.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> cell_params: CellParams;
@group(3) @binding(2) var<uniform> params: PathParams;
@group(3) @binding(3) var<storage, read> table: array<u32>;
@group(3) @binding(4) var list: texture_2d<u32>;
@group(3) @binding(5) var light_out: texture_storage_2d<rgba32uint, write>;
@group(3) @binding(6) var hit_out: texture_storage_2d<rg32uint, write>;

@compute @workgroup_size(8, 8)
fn cell_rays(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let place = id.xy + vec2u(0u, row_offset);
    if any(place >= textureDimensions(list)) {
        return;
    }
    let entry = textureLoad(list, place, 0);
    if entry.w != cell_params.tag {
        return;
    }
    // Sampled like a pixel, so that the rays of a cell are stratified over the frames.
    let at = vec2u(entry.x % BLUE_NOISE_SIDE, entry.x / BLUE_NOISE_SIDE);
    let index = cell_params.index;
    var start = shadow_ray_start(entry.y, cell_point(entry.y, occlusion_hit_unpack(entry.yz).barycentric));
    start.origin += inwards(gbuffer_triangle(entry.y), start);
    let normal = start.smooth_normal;
    let of_lights = light_arriving(start, normal, at, index);
    var other = vec3f(0.0);
    if params.emitter_count > 0u {
        let choice = sampling_point(at, index, SAMPLE_EMITTER);
        other = emitter_light(start, normal, choice, sampling_point(at, index, SAMPLE_EMITTER_POINT));
    }
    let along = hemisphere_direction(start, normal, sampling_point(at, index, SAMPLE_OCCLUSION));
    let hit = shadow_ray_hit(start, along, 1.0e30, false);
    var found = OCCLUSION_UNHIT;
    if hit.t >= 0.0 {
        found = occlusion_hit_pack(occlusion_hit(hit, along));
        other += emitted_light(start, normal, along, tree_triangle(hit.leaf), hit.barycentric);
    } else {
        other += (1.0 - hit.blocked) * environment_prefiltered(along, BLOCKED_ROUGHNESS);
    }
    let packed = vec4u(rgb16_pack(of_lights, 0u), rgb16_pack(min(other, vec3f(RADIANCE_MAX)), 0u));
    textureStore(light_out, place, packed);
    textureStore(hit_out, place, vec4u(found, 0u, 0u));
}
