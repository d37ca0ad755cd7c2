// crossings: counts the front and back faces that each ray of a list passes through.
//
// in   rays; the BVH (group 1)
// out  found, one per ray: the number of front faces and of back faces
// One thread per ray.
#import "bvh/predicate.wgsl"
#import "bvh/bvh_crossings.wgsl"
#import "bvh/dispatch.wgsl"
#import "bvh/query/query_order.wgsl"

struct Crossings {
    fronts: u32,
    backs: u32,
}

// Number of rays; leaf_cutoff; unused; mask of accepted objects.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> rays: array<Ray>;
@group(0) @binding(3) var<storage, read_write> found: array<Crossings>;

@compute @workgroup_size(TRACE_BLOCK)
fn crossings(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let count = min(query.x, min(arrayLength(&rays), arrayLength(&found)));
    let i = query_of_thread(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, count);
    if i == BVH_MISS {
        return;
    }
    let ray = bvh_crossing_ray(rays[i]);
    var walk = bvh_walk_begin(query.y);
    var counts = Crossings(0u, 0u);
    while bvh_crossing_advance(&walk, ray) {
        while !bvh_walk_is_done(&walk) {
            let triangle = tree_triangle(bvh_walk_leaf(&walk));
            let crossing = bvh_crossing(triangle, ray);
            if crossing != 0 && bvh_query_accepts(i, triangle, query.w) {
                let is_front = u32(crossing > 0);
                counts = Crossings(counts.fronts + is_front, counts.backs + 1u - is_front);
            }
        }
    }
    found[i] = counts;
}
