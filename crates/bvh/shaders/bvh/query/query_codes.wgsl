// query_codes: computes the Morton code of each query of a list, by which queries are sorted.
//
// in   rows: the rows of each query, of which one or two begin with a position; the BVH (group 1)
// out  keys, 30 bits each
// A query's position is the midpoint of its two positions. The codes use the grid of the tree's root. Positions outside
// it get the code of the nearest cell.
// One thread per query.
#import "bvh/box.wgsl"
#import "bvh/dispatch.wgsl"
#import "bvh/morton_code.wgsl"
#import "bvh/tree_read.wgsl"

// Number of queries; rows per query; index of the row with the second position.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> rows: array<vec4f>;
#array write 0 2 keys: u32

@compute @workgroup_size(TRACE_BLOCK)
fn query_codes(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= min(query.x, arrayLength(&rows) / query.y) {
        return;
    }
    let point = 0.5 * rows[query.y * i].xyz + 0.5 * rows[query.y * i + query.z].xyz;
    var key = 0u;
    if tree.mesh_count > 0u {
        let root = bvh_root();
        // A mesh that is a single leaf has no node. Then any code will do.
        let number = select(tree_triangle(root & ~BVH_MESH).triangle, root, bvh_is_node(root));
        let node = tree_node(number);
        let cell = (point - node.origin) / (255.0 * bvh_grid_step(node)) * 1024.0;
        key = interleave(vec3u(clamp(cell, vec3f(0.0), vec3f(1023.0))));
    }
    keys(i, key);
}
