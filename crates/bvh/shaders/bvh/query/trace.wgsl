// trace: traces a list of rays against the scene, and accepts every triangle.
//
// in   rays; the BVH (group 1)
// out  hits, one per ray: closest_hit writes the nearest hit, any_hit the first that is found; or visits, one per ray:
//      the number of nodes and triangles that such a query visits
// One thread per ray. Counting has its own entry points, so that it does not slow down the queries.
#import "bvh/dispatch.wgsl"
#import "bvh/bvh.wgsl"

struct Visits {
    nodes: u32,
    triangles: u32,
}

// End of the ray range; leaf_cutoff; first ray.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> rays: array<Ray>;
@group(0) @binding(2) var<storage, read_write> hits: array<Hit>;
@group(0) @binding(2) var<storage, read_write> visits: array<Visits>;

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    return true;
}

fn trace(i: u32, any: bool) {
    if i < query.x {
        hits[i] = bvh_trace(rays[i], query.y, any);
    }
}

fn count(i: u32, any: bool) {
    if i < query.x {
        let hit = bvh_trace(rays[i], query.y, any);
        visits[i] = Visits(bvh_nodes_visited, bvh_triangles_visited);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn closest_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    trace(query.z + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, false);
}

@compute @workgroup_size(TRACE_BLOCK)
fn any_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    trace(query.z + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, true);
}

@compute @workgroup_size(TRACE_BLOCK)
fn count_closest_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    count(query.z + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, false);
}

@compute @workgroup_size(TRACE_BLOCK)
fn count_any_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    count(query.z + dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, true);
}
