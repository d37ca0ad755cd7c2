// nearest: finds the nearest point on the BVH's triangles for each point of a list.
//
// in   points, with a search radius each; the BVH (group 1)
//      nearest_sorted: order, the indices of the points in Morton order
// out  found, one per point
// nearest has one thread per point. nearest_sorted has one per NEAREST_RUN points, and each search starts with the
// result of the previous one.
#import "bvh/bvh_nearest.wgsl"
#import "bvh/dispatch.wgsl"

// Number of points; leaf_cutoff.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> points: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> found: array<Nearest>;
#array read 0 3 order: u32

// Returns the number of points. The buffers belong to the caller, so the number is clamped to their sizes.
fn nearest_queries() -> u32 {
    return min(query.x, min(arrayLength(&points), arrayLength(&found)));
}

@compute @workgroup_size(TRACE_BLOCK)
fn nearest(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i < nearest_queries() {
        found[i] = bvh_nearest(points[i].xyz, points[i].w, query.y);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn nearest_sorted(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let first = NEAREST_RUN * (dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread);
    let end = min(first + NEAREST_RUN, nearest_queries());
    var near = BvhNearLeaf(0.0, BVH_MISS, 0u);
    for (var place = first; place < end; place++) {
        let i = order(place);
        let point = points[i].xyz;
        let reach = points[i].w;
        var start = BvhNearLeaf(reach * reach, BVH_MISS, 0u);
        if near.leaf != BVH_MISS {
            let squared = bvh_near_squared(tree_triangle(near.leaf), point);
            if squared < start.squared {
                start = BvhNearLeaf(squared, near.leaf, near.first);
            }
        }
        near = bvh_nearest_leaf(point, start, query.y);
        found[i] = bvh_nearest_point(point, reach, near);
    }
}
