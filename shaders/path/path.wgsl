// path: a path of light a pixel, from the eye on (Kajiya 1986, "The Rendering Equation"; Veach 1997, chapters
// 9 and 10), by one kernel. path_shade.wgsl and its neighbours do the same by several.
//
// in   the merged scene (group 2), the trees (group 1), lights and the environment's cube (group 0), the
//      table of path/path_table.wgsl
// out  sample_out: radiance of one path; alpha 1 where it meets a surface
// One thread per pixel of a band. At each surface the path asks for direct light: of one of the lights, which
// are chosen by what they would give without shadows; of one point of a triangle that glows; of one direction
// of the environment. Then it goes on along a direction that is chosen by the lobes of the material, and what
// it meets there of the last two is weighed with what asking for it has found (balance heuristic). After
// three surfaces paths end by chance (Russian roulette). Surfaces are those of the fast frame: the same
// functions, of texels at the finest level.
//
// All rays of a surface are traced in turn by one loop: software adapters inline the traversal at each place.
#import "path/path_meet.wgsl"
#import "path/path_rays.wgsl"

@group(3) @binding(0) var<uniform> first_row: u32;
@group(3) @binding(1) var<uniform> params: PathParams;
@group(3) @binding(2) var<storage, read> table: array<u32>;
@group(3) @binding(3) var sample_out: texture_storage_2d<rgba32float, write>;

@compute @workgroup_size(8, 8)
fn path(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    path_begin(pixel);
    var bounce = 0u;
    loop {
        var found: PathHit;
        var which = select(select(RAY_LIGHT, RAY_LIFT, state.is_lifted), RAY_ON, bounce == 0u);
        var is_lifted = false;
        for (var step = 0u; step < RAY_ON + 1u + MOST_BACKS; step++) {
            let goes_on = which == RAY_ON;
            if goes_on && !any(state.throughput > vec3f(0.0)) {
                break;
            }
            if !goes_on && !path_wants(which) {
                which = select(which + 1u, RAY_ENVIRONMENT, which == RAY_LIFT);
                continue;
            }
            var ray = Ray(state.origin, state.t_min, state.direction, 1.0e30);
            if !goes_on {
                ray = path_asking_ray(which, is_lifted);
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
                    path_take(which, bounce - 1u);
                }
                which++;
                continue;
            }
            found = path_hit(hit);
            if bounce == 0u && path_passes_back(found) && step < MOST_BACKS {
                state.t_min = hit.t;
                continue;
            }
            break;
        }
        if !any(state.throughput > vec3f(0.0)) {
            break;
        }
        if !path_meet(found, pixel, bounce, params.bounces) {
            break;
        }
        bounce++;
    }
    textureStore(sample_out, pixel, path_sampled());
}
