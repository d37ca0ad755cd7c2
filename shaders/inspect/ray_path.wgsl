// ray_path: records every step of one pixel's rays through the BVHs.
//
// in   the BVHs (group 1), the merged scene (group 2), the G-buffer's position, normal and ids, lights; path: the query
// out  path: the number of steps, nodes and triangles, and the first steps
// One thread. It traces the camera ray with the any-hit test of shadow rays, or the shadow rays that the last frame
// cast from the pixel to all lights. On software adapters, if lights are not chosen at random, these shadow rays visit
// exactly the nodes and triangles that the `cost` channel counts. On GPUs, the frame's rays traverse ray nodes in
// another order (bvh/bvh_rays.wgsl). The host replaces bvh/bvh_steps.wgsl with the ray_step_… functions.
#import "bvh/software/bvh_rays.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "light/light_table.wgsl"
#import "shadow/light_visibility.wgsl"
#import "inspect/ray_steps.wgsl"

@group(3) @binding(0) var position_texture: texture_2d<f32>;
@group(3) @binding(1) var normal_texture: texture_2d<u32>;
@group(3) @binding(2) var ids_texture: texture_2d<u32>;
@group(3) @binding(3) var<storage, read_write> path: RayPath;

fn trace_shadow_rays(pixel: vec2u) {
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    if !gbuffer_is_triangle(surface_id) {
        return;
    }
    let start = shadow_ray_start(surface_id, gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz);
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    for (var i = 0u; i < frame.light_candidates; i++) {
        let light = light_at(light_candidate(i, frame.light_candidates, start.position, normal, 0.5).index);
        let sample = light_sample(light, start.position);
        if shadow_ray_needed(start, normal, sample) {
            let dimension = frame.first_dimension + SAMPLE_LIGHTS + i;
            light_visible_share(start, light, sample, pixel, light_rays(light), dimension);
        }
    }
}

@compute @workgroup_size(1)
fn ray_path() {
    let query = path.query;
    if query.shadow != 0u {
        trace_shadow_rays(query.pixel);
    } else {
        let ray = Ray(query.origin, query.t_min, query.direction, query.t_max);
        bvh_traverse(ray, frame.leaf_cutoff, false);
    }
    path.head = RayPathHead(ray_step_count, bvh_nodes_visited, bvh_triangles_visited);
}
