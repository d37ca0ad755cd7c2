// Follows a path to its end. The importer binds `table` and `params`.
//
// One loop traces all rays of a surface in turn, because llvmpipe inlines the traversal at every call.
#import "path/path_interact.wgsl"
#import "path/path_rays.wgsl"

// Follows the path in `state` from its surface number `first` on. With `is_found`, that surface is `start`, and rays for
// the direct light in `direct_samples` are traced before; otherwise the first ray finds it.
fn path_follow(pixel: vec2u, first: u32, start: PathHit, is_found: bool) {
    var bounce = first;
    var found = start;
    var is_known = is_found;
    loop {
        var which = select(select(RAY_LIGHT, RAY_LIFT, state.is_lifted), RAY_ON, bounce == first && !is_known);
        var is_lifted = false;
        for (var step = 0u; step < RAY_ON + 1u + MAX_BACKS; step++) {
            let goes_on = which == RAY_ON;
            if goes_on && (is_known || !any(state.throughput > vec3f(0.0))) {
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
        is_known = false;
        if !any(state.throughput > vec3f(0.0)) {
            break;
        }
        if !path_interact(found, pixel, bounce, params.bounces) {
            break;
        }
        bounce++;
    }
}
