// trace: rays from a list against the whole scene; every triangle that is met counts as a hit.
//
// in   rays; the tree (group 1)
// out  hits, one per ray: closest_hit the nearest one, any_hit the first that is found; or visits, one per ray: what
//      that query went through
// One thread per ray. Counting has entry points of its own, so that it costs the others nothing.
#import "bvh/dispatch.wgsl"
#import "bvh/bvh.wgsl"

struct Visits {
    nodes: u32,
    triangles: u32,
}

// The ray behind the last one; leaf_cutoff; the first ray.
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
