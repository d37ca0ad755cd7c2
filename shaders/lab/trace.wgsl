// trace (laboratory): traces a list of rays through an acceleration structure, with one walk and one triangle test
// (lab/parts.wgsl).
//
// in   rays, nodes, links, triangles
// out  hits, one per ray; lab_count_…: visits, one per ray, and no hits
// One thread per ray. lab_persistent_…: persistent threads that take rays one by one from a counter, which starts at 0,
// without waiting for each other. A ray whose t_max is not above its t_min is the placeholder of a pixel without a ray.
#import "bvh/dispatch.wgsl"
#import "lab/data.wgsl"
#import "lab/parts.wgsl"

fn lab_trace(i: u32, any: bool) -> LabHit {
    let ray = rays[i];
    var hit = lab_miss(ray);
    if ray.t_max > ray.t_min {
        hit = lab_walk(ray, any);
    }
    return hit;
}

// Takes the next ray from the counter.
fn lab_next() -> u32 {
    return query.first_ray + atomicAdd(&next_ray, 1u);
}

@compute @workgroup_size(TRACE_BLOCK)
fn lab_closest(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = query.first_ray + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    lab_thread = thread;
    if i < query.ray_count {
        hits[i] = lab_trace(i, false);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn lab_any(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = query.first_ray + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    lab_thread = thread;
    if i < query.ray_count {
        hits[i] = lab_trace(i, true);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn lab_persistent_closest(@builtin(local_invocation_index) thread: u32) {
    lab_thread = thread;
    for (var i = lab_next(); i < query.ray_count; i = lab_next()) {
        hits[i] = lab_trace(i, false);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn lab_persistent_any(@builtin(local_invocation_index) thread: u32) {
    lab_thread = thread;
    for (var i = lab_next(); i < query.ray_count; i = lab_next()) {
        hits[i] = lab_trace(i, true);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn lab_count_closest(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = query.first_ray + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    lab_thread = thread;
    if i < query.ray_count {
        let hit = lab_trace(i, false);
        visits[i] = Visits(lab_nodes_visited, lab_triangles_visited);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn lab_count_any(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = query.first_ray + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    lab_thread = thread;
    if i < query.ray_count {
        let hit = lab_trace(i, true);
        visits[i] = Visits(lab_nodes_visited, lab_triangles_visited);
    }
}
