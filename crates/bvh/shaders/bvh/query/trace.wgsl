// trace: traces a list of rays against the scene, and accepts every triangle.
//
// in   rays; the nodes for rays and the leaves of the BVH (group 1), tlas
// out  hits, one per ray: closest_hit writes the nearest hit, any_hit the first that is found; or visits, one per ray:
//      the number of nodes and triangles that such a query visits
// One thread per ray. Counting has its own entry points, so that it does not slow down the queries.
#import "bvh/dispatch.wgsl"
#import "bvh/bvh_rays.wgsl"

struct Visits {
    nodes: u32,
    triangles: u32,
}

// End of the ray range; leaf_cutoff; first ray.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> rays: array<Ray>;
@group(0) @binding(2) var<storage, read_write> hits: array<Hit>;
@group(0) @binding(2) var<storage, read_write> visits: array<Visits>;
@group(0) @binding(3) var<storage, read> tlas: array<TlasEntry>;

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    return true;
}

fn trace(place: u32, thread: u32, any: bool) {
    bvh_ray_begin(thread);
    let i = query.z + place;
    if i >= query.x {
        return;
    }
    let hit = bvh_traverse(rays[i], query.y, any);
    var mesh = BVH_MISS;
    var triangle = 0u;
    if hit.leaf != BVH_MISS {
        let row = TRIANGLE_ROWS * hit.leaf;
        mesh = tree_triangle_rows(row + 2u).w & ~ANY_HIT_TEST;
        triangle = tree_triangle_rows(row).w - tlas[mesh].first_triangle;
    }
    hits[i] = Hit(hit.t, hit.barycentric, mesh, triangle);
}

fn count(place: u32, thread: u32, any: bool) {
    bvh_ray_begin(thread);
    let i = query.z + place;
    if i < query.x {
        let hit = bvh_traverse(rays[i], query.y, any);
        visits[i] = Visits(bvh_nodes_visited, bvh_triangles_visited);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn closest_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    trace(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, thread, false);
}

@compute @workgroup_size(TRACE_BLOCK)
fn any_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    trace(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, thread, true);
}

@compute @workgroup_size(TRACE_BLOCK)
fn count_closest_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    count(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, thread, false);
}

@compute @workgroup_size(TRACE_BLOCK)
fn count_any_hit(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    count(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, thread, true);
}
