// path_trace: traces the continuation rays. A kernel of the wavefront path tracer (path_generate.wgsl).
//
// in   the list of paths and their rays; the BVHs (group 1)
// out  the hit of each path; PATH_NO_RAY for paths that have ended
// One thread per path of the list.
#import "bvh/dispatch.wgsl"
#import "reflections/hit_range.wgsl"
#import "path/path_rays.wgsl"
#import "path/path_store.wgsl"
#import "frame/ray_list.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> stage: PathStage;
@group(3) @binding(2) var<uniform> params: PathParams;
@group(3) @binding(3) var<storage, read_write> paths: array<vec4u>;
@group(3) @binding(4) var<uniform> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(3) @binding(5) var list_texture: texture_2d<u32>;

@compute @workgroup_size(RAY_BLOCK)
fn path_trace(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let place = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    if place >= ranges[0].count {
        return;
    }
    let number = textureLoad(list_texture, ray_list_texel(place), 0).r;
    let pixel = path_pixel(number);
    let direction = bitcast<vec4f>(paths[path_row(ROW_DIRECTION, number)]);
    if direction.w == PATH_ENDED {
        paths[path_row(ROW_HIT, number)].x = PATH_NO_RAY;
        return;
    }
    state.direction = direction.xyz;
    var ray = Ray(path_vec3(ROW_ORIGIN, number), 0.0, direction.xyz, 1.0e30);
    var found: PathHit;
    for (var step = 0u; step <= MAX_BACKS; step++) {
        found = path_hit(path_trace_ray(ray, RAY_ON, pixel, stage.bounce));
        if stage.bounce != 0u || !path_passes_back(found) {
            break;
        }
        ray.t_min = found.t;
    }
    paths[path_row(ROW_HIT, number)] = vec4u(found.surface_id, found.material, bitcast<vec2u>(found.barycentric));
    paths[path_row(ROW_ORIGIN, number)].w = bitcast<u32>(found.t);
}
