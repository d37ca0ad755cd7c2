// reflection_ambient: ambient occlusion and bounced light at the hits of reflection rays.
//
// in   G-buffer of the hits (position, normal, ids), lights, the merged scene (group 2), the BVHs (group 1), a slice of
//      rows
// out  hits_out: the layer HITS_AMBIENT (reflections/hit_ambient.wgsl)
// One thread per pixel. Each hit casts two rays into its hemisphere, like `occlusion_rays` does for the pixels of the
// picture. One of the rays is a closest-hit ray, and its hit is lit like in `bounced_light`.
#import "bvh/bvh_rays.wgsl"
#import "ambient/bounced.wgsl"
#import "frame/gbuffer.wgsl"
#import "ambient/hemisphere.wgsl"
#import "reflections/hit_ambient.wgsl"
#import "math/sampling.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var position_texture: texture_2d<f32>;
@group(3) @binding(2) var normal_texture: texture_2d<u32>;
@group(3) @binding(3) var ids_texture: texture_2d<u32>;
@group(3) @binding(4) var<uniform> params: OcclusionParams;
@group(3) @binding(5) var hits_out: texture_storage_2d_array<rgba32uint, write>;

@compute @workgroup_size(8, 8)
fn reflection_ambient(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let position = textureLoad(position_texture, pixel, 0);
    if position.w == 0.0 {
        return;
    }
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    var start = shadow_ray_start(surface_id, position.xyz);
    start.origin += inwards(gbuffer_triangle(surface_id), start);
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    let recorded_ray = params.recorded_ray;
    var taken = 0.0;
    var radiance = vec3f(0.0);
    var first_hit = OCCLUSION_UNHIT;
    for (var ray = 0u; ray < HIT_AMBIENT_RAYS; ray++) {
        let k = params.index * HIT_AMBIENT_RAYS + ray;
        let u = sampling_point(pixel, k, frame.first_dimension + SAMPLE_OCCLUSION);
        let along = hemisphere_direction(start, normal, u);
        let hit = shadow_ray_hit(start, along, params.reach, ray != recorded_ray);
        taken += hit.blocked;
        if ray == recorded_ray && hit.t >= 0.0 {
            first_hit = occlusion_hit_pack(occlusion_hit(hit, along));
        }
    }
    if first_hit.x != OCCLUSION_UNHIT.x {
        radiance = bounced(pixel, params.index, occlusion_hit_unpack(first_hit));
    }
    let words = vec4u(rgb16_pack(radiance, 0u), bitcast<u32>(taken), 0u);
    textureStore(hits_out, pixel, HITS_AMBIENT, words);
}
