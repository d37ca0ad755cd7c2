// cost: computes the expected cost of rays as two sums of surface areas (MacDonald and Booth 1990).
//
// in   node_areas: negative for unused slots
// out  partials[i]: the sum of thread i; result: the total area of all binary nodes with more leaves than the cutoff,
//      including nodes of the TLAS, and the area of the root
// The sum divided by the root's area is the expected number of binary nodes that a ray through the root's box visits.
// cost_nodes has COST_BLOCK² threads, and each sums every (COST_BLOCK²)th node. cost_total reduces those sums in one
// workgroup. Each sums in a fixed order, so that the same tree gives the same bits. The dispatch boundary orders the
// two kernels.
#import "bvh/tree.wgsl"

@group(0) @binding(0) var<storage, read_write> partials: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@group(0) @binding(2) var<uniform> tree: TreeInfo;
@group(0) @binding(3) var<storage, read> node_areas: array<f32>;

var<workgroup> sums: array<f32, COST_BLOCK>;

fn node_area(node: u32) -> f32 {
    return max(node_areas[node], 0.0);
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
    // The TLAS of a single mesh has no nodes, so the mesh's root is the root of the scene.
    var root = 0.0;
    if tree.mesh_count > 0u {
        root = node_area(select(0u, tree.triangle_count, tree.mesh_count > 1u));
    }
    result[1] = root;
}
