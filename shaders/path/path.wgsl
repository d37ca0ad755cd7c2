// path: unidirectional path tracer in a single kernel, one path per pixel (Kajiya 1986, "The Rendering Equation"; Veach
// 1997, chapters 9 and 10).
//
// in   the merged scene (group 2), the BVHs (group 1), lights and the environment cube (group 0), the table of
//      path/path_table.wgsl
// out  sample_out: radiance of one path; alpha 1 if it hits a surface
// One thread per pixel of a slice of rows. At each surface the path samples direct light from one light, chosen by its
// unshadowed contribution, from one point of an emissive triangle, and from one direction of the environment. It then
// continues in a direction sampled from the material's lobes. Emission and environment that this direction hits are
// combined with the direct samples by multiple importance sampling with the balance heuristic. Russian roulette starts
// after three surfaces. Surfaces are evaluated by the same functions as in the real-time frame, with texels of mip
// level 0. path_shade.wgsl and its neighbours are the same path tracer as several kernels.
//
// One loop traces all rays of a surface in turn, because llvmpipe inlines the traversal at every call.
#import "path/path_interact.wgsl"
#import "path/path_rays.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> params: PathParams;
@group(3) @binding(2) var<storage, read> table: array<u32>;
@group(3) @binding(3) var sample_out: texture_storage_2d<rgba32float, write>;

@compute @workgroup_size(8, 8)
fn path(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    path_begin(pixel);
    var bounce = 0u;
    loop {
        var found: PathHit;
        var which = select(select(RAY_LIGHT, RAY_LIFT, state.is_lifted), RAY_ON, bounce == 0u);
        var is_lifted = false;
        for (var step = 0u; step < RAY_ON + 1u + MAX_BACKS; step++) {
            let goes_on = which == RAY_ON;
            if goes_on && !any(state.throughput > vec3f(0.0)) {
                break;
            }
            if !goes_on && !path_has_direct(which) {
                which = select(which + 1u, RAY_ENVIRONMENT, which == RAY_LIFT);
                continue;
            }
            var ray = Ray(state.origin, state.t_min, state.direction, 1.0e30);
            if !goes_on {
                ray = path_direct_ray(which, is_lifted);
            }
            let hit = path_trace_ray(ray, which, pixel, bounce);
            let is_hit = hit.leaf != BVH_MISS;
            if which == RAY_LIFT {
                is_lifted = path_lifts(is_hit);
                which = RAY_LIGHT;
                continue;
            }
            if !goes_on {
                if !is_hit {
                    path_add_direct(which, bounce - 1u);
                }
                which++;
                continue;
            }
            found = path_hit(hit);
            if bounce == 0u && path_passes_back(found) && step < MAX_BACKS {
                state.t_min = hit.t;
                continue;
            }
            break;
        }
        if !any(state.throughput > vec3f(0.0)) {
            break;
        }
        if !path_interact(found, pixel, bounce, params.bounces) {
            break;
        }
        bounce++;
    }
    textureStore(sample_out, pixel, path_sampled());
}
