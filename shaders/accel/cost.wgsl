// cost: the expected cost of rays: the sum of the surface areas of all inner nodes, those of the TLAS among
// them, and the area of the root. Their quotient is the number of nodes that a ray through the root's box is
// expected to visit (MacDonald and Booth 1990).
//
// in   the tree (group 1). Where no node lies there are no exponents; an empty box has no area.
// out  partials[i] of each thread; result: the sum, the root's area
// cost_nodes has COST_BLOCK² threads, of which each adds up every (COST_BLOCK²)th node; cost_total adds those
// sums in one workgroup. Both in a fixed order, so that the same tree gives the same bits; between the two lies
// the dispatch boundary.
#import "common/tree.wgsl"

@group(0) @binding(0) var<storage, read_write> partials: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;

@group(1) @binding(0) var<uniform> tree: TreeInfo;
#array read 1 1 node_rows: vec4u

var<workgroup> sums: array<f32, COST_BLOCK>;

// Steps of the grid, along one axis, that the children's boxes cover together; empty ones reach from 255 to 0.
fn node_steps(lower: u32, upper: u32) -> f32 {
    let low = unpack4xU8(lower);
    let high = unpack4xU8(upper);
    let first = min(min(low.x, low.y), min(low.z, low.w));
    let last = max(max(high.x, high.y), max(high.z, high.w));
    return f32(max(last, first) - first);
}

// Surface area of an inner node: that of the union of its children's boxes.
fn node_area(node: u32) -> f32 {
    let exponents = node_rows(NODE_ROWS * node).w;
    if exponents == 0u {
        return 0.0;
    }
    let lower = node_rows(NODE_ROWS * node + 1u);
    let upper = node_rows(NODE_ROWS * node + 2u);
    let steps = vec3f(
        node_steps(lower.x, upper.x),
        node_steps(lower.y, upper.y),
        node_steps(lower.z, upper.z),
    );
    let extent = steps * bitcast<vec3f>(node_exponents(exponents) << vec3u(23u));
    return 2.0 * dot(extent, extent.yzx);
}

@compute @workgroup_size(COST_BLOCK)
fn cost_nodes(@builtin(global_invocation_id) thread: vec3u) {
    let nodes = tree.triangle_count + tree.mesh_count;
    var sum = 0.0;
    for (var node = thread.x; node < nodes; node += COST_BLOCK * COST_BLOCK) {
        sum += node_area(node);
    }
    partials[thread.x] = sum;
}

@compute @workgroup_size(COST_BLOCK)
fn cost_total(@builtin(local_invocation_index) thread: u32) {
    var sum = 0.0;
    for (var i = 0u; i < COST_BLOCK; i++) {
        sum += partials[COST_BLOCK * i + thread];
    }
    sums[thread] = sum;
    workgroupBarrier();
    if thread > 0u {
        return;
    }
    for (var i = 1u; i < COST_BLOCK; i++) {
        sum += sums[i];
    }
    result[0] = sum;
    // One mesh needs no TLAS: its own root is the scene's.
    var root = 0.0;
    if tree.mesh_count > 0u {
        root = node_area(select(0u, tree.triangle_count, tree.mesh_count > 1u));
    }
    result[1] = root;
}
