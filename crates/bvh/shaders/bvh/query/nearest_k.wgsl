// nearest_k: finds the k nearest objects for each point of a list.
//
// in   points, with a search radius each; the BVH (group 1)
// out  neighbours: `k` for each point, nearest first; missing ones have the mesh BVH_MISS and the search radius
// One thread per point, which inserts its results in order into its part of `neighbours`.
#import "bvh/predicate.wgsl"
#import "bvh/bvh_nearest.wgsl"
#import "bvh/bvh_object.wgsl"
#import "bvh/bvh_walk.wgsl"
#import "bvh/dispatch.wgsl"
#import "bvh/query/query_order.wgsl"

struct Neighbour {
    distance: f32,
    mesh: u32,
    object: u32,
}

// Number of points; leaf_cutoff; k; mask of accepted objects.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> points: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> neighbours: array<Neighbour>;

// Returns the squared distance between an object and a point.
fn object_distance(object: LeafTriangle, point: vec3f) -> f32 {
    if BVH_OBJECTS == BVH_TRIANGLES {
        return bvh_near_triangle(object, point).squared;
    }
    let gap = bvh_gap(object, point, vec3f(0.0));
    return dot(gap.offset, gap.offset);
}

@compute @workgroup_size(TRACE_BLOCK)
fn nearest_k(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let k = query.z;
    let asked = min(query.x, min(arrayLength(&points), arrayLength(&neighbours) / max(k, 1u)));
    let i = query_of_thread(dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread, asked);
    if k == 0u || i == BVH_MISS {
        return;
    }
    let first = i * k;
    let point = points[i].xyz;
    // Squared search radius, reduced to the k-th best distance once k objects are found.
    var reach = points[i].w * points[i].w;
    var count = 0u;
    var walk = bvh_walk_begin(query.y);
    loop {
        for (var number = bvh_walk_node(&walk, reach); number != BVH_MISS; number = bvh_walk_node(&walk, reach)) {
            let node = tree_node(number);
            let distances = bvh_box_distances(node, point);
            bvh_walk_into(&walk, number, node, distances, distances < vec4f(reach));
        }
        if bvh_walk_is_done(&walk) {
            break;
        }
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            let object = tree_triangle(leaf);
            let squared = object_distance(object, point);
            if squared < reach && object.v0.x < EMPTY_BOX_EXTENT && bvh_query_accepts(i, object, query.w) {
                // Insertion sort: farther objects move back, and the farthest is dropped.
                var at = min(count, k - 1u);
                count = min(count + 1u, k);
                let distance = sqrt(squared);
                while at > 0u && neighbours[first + at - 1u].distance > distance {
                    neighbours[first + at] = neighbours[first + at - 1u];
                    at--;
                }
                let name = bvh_walk_name(&walk, leaf);
                neighbours[first + at] = Neighbour(distance, name.x, name.y);
                if count == k {
                    let last = neighbours[first + k - 1u].distance;
                    reach = min(reach, last * last);
                }
            }
        }
    }
    while count < k {
        neighbours[first + count] = Neighbour(points[i].w, BVH_MISS, 0u);
        count++;
    }
}
