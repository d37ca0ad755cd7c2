// ray_nodes: makes the nodes for rays on GPUs (bvh/ray_node.wgsl) from the nodes of all BVHs.
//
// in   nodes, and meshes as leaves of the TLAS (group 1); node_areas: negative for unused slots; items: slots of a
//      partial build; the leaf cutoff
// out  ray_node_rows
// One thread per slot. Children with at most as many triangles as the cutoff become ranges of leaves. So a new cutoff
// takes effect without a build.
#import "bvh/dispatch.wgsl"
#import "bvh/ray_node.wgsl"
#import "bvh/tree_read.wgsl"

struct RayNodesQuery {
    leaf_cutoff: u32,
    // Number of slots, and 1 if these are all, otherwise they are in `items`.
    count: u32,
    is_all: u32,
}

@group(0) @binding(0) var<uniform> query: RayNodesQuery;
@group(0) @binding(1) var<storage, read> node_areas: array<f32>;
@group(0) @binding(2) var<storage, read> items: array<u32>;
#array write 0 3 ray_node_rows: vec4u

// Smallest normal half. GPUs may flush smaller ones to zero.
const HALF_MIN = 6.103515625e-5;
// Lower plane of a missing child, whose upper plane is 0: the largest half. Rays from up to 10^10 grid steps away miss
// this box in spite of rounding (BVH_MARGIN).
const HALF_MAX = 65504.0;

// Returns the planes of four children along one axis as halves. They are multiples of a power of two of at most 1, and
// have eight bits, which a half holds exactly. So only planes below HALF_MIN are rounded, outwards.
fn halves(lower: vec4f, upper: vec4f, is_missing: vec4<bool>) -> vec4u {
    let low_out = select(lower, vec4f(0.0), lower < vec4f(HALF_MIN));
    let high_out = select(upper, vec4f(HALF_MIN), (upper < vec4f(HALF_MIN)) & (upper > vec4f(0.0)));
    let low = select(low_out, vec4f(HALF_MAX), is_missing);
    let high = select(high_out, vec4f(0.0), is_missing);
    return vec4u(
        pack2x16float(low.xy),
        pack2x16float(low.zw),
        pack2x16float(high.xy),
        pack2x16float(high.zw),
    );
}

// Returns the axis along which b is farthest from a, plus 3 if it is on the negative side.
fn order_axis(a_to_b: vec3f) -> u32 {
    let along = abs(a_to_b);
    let axis = select(select(2u, 1u, along.y >= along.z), 0u, along.x >= along.y && along.x >= along.z);
    return axis + select(0u, 3u, a_to_b[axis] < 0.0);
}

// Returns the order of the children: the axes that separate the first from the second, the third from the fourth, and
// the first pair from the second. The corners of missing children do not matter much.
fn children_order(lower: mat4x3f, upper: mat4x3f) -> u32 {
    let centers = lower + upper;
    let pair_a = min(lower[0], lower[1]) + max(upper[0], upper[1]);
    let pair_b = min(lower[2], lower[3]) + max(upper[2], upper[3]);
    return order_axis(centers[1] - centers[0])
        | (order_axis(centers[3] - centers[2]) << 3u)
        | (order_axis(pair_b - pair_a) << 6u);
}

@compute @workgroup_size(RAY_NODE_THREADS)
fn ray_nodes(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    var index = dispatch_workgroup(workgroup, workgroups) * RAY_NODE_THREADS + thread;
    if index >= query.count {
        return;
    }
    if query.is_all == 0u {
        index = items[index];
    }
    if node_areas[index] < 0.0 {
        return;
    }
    let node = tree_node(index);
    let cutoff = clamp(max(query.leaf_cutoff, tree.leaf_cutoff), 1u, RAY_LEAVES_MAX);
    let starts = vec4u(node.first, node.ends.xyz);
    let counts = node.ends - starts;
    let over_meshes = index >= tree.triangle_count;
    let is_leaf = counts <= vec4u(select(cutoff, 1u, over_meshes));
    var is_missing = counts == vec4u(0u);

    let numbers = bvh_children(node, false, is_leaf);
    var children: vec4u;
    var last = ray_leaves(0u, 1u);
    for (var i = 0u; i < 4u; i++) {
        if over_meshes && is_leaf[i] && !is_missing[i] {
            let mesh = tree_triangle(starts[i]);
            is_missing[i] = mesh.payload == 0u;
            last = select(ray_mesh_root(mesh.triangle, mesh.payload, cutoff), last, is_missing[i]);
        } else if !is_missing[i] {
            last = select(numbers[i], ray_leaves(starts[i], counts[i]), is_leaf[i]);
        }
        children[i] = last;
    }
    if over_meshes {
        ray_node_rows(ray_tlas_row(index), vec4u(node.ends.w, 0u, 0u, 0u));
    }

    // The three axes share the coarsest step. The others are powers of two of it.
    let exponents = node_exponents(node.exponents);
    let exponent = max(max(exponents.x, exponents.y), exponents.z);
    let relative = max(vec3i(exponents) - vec3i(i32(exponent)) + 127, vec3i(1));
    let scale = bitcast<vec3f>(vec3u(relative) << vec3u(23u));
    let lower = mat3x4f(
        bvh_steps(node.lower.x) * scale.x,
        bvh_steps(node.lower.y) * scale.y,
        bvh_steps(node.lower.z) * scale.z,
    );
    let upper = mat3x4f(
        bvh_steps(node.upper.x) * scale.x,
        bvh_steps(node.upper.y) * scale.y,
        bvh_steps(node.upper.z) * scale.z,
    );
    let order = children_order(transpose(lower), transpose(upper));

    let row = RAY_NODE_ROWS * index;
    if RAY_BOXES_ARE_BYTES {
        let missing = pack4xU8(select(vec4u(0u), vec4u(255u), is_missing));
        let bits = select(vec4u(0x200u, 0x400u, 0x800u, 0x1000u), vec4u(0u), is_missing);
        let present = bits.x | bits.y | bits.z | bits.w;
        let low = node.lower | vec3u(missing);
        let high = node.upper & vec3u(~missing);
        ray_node_rows(row, tree_row(node.origin, node.exponents));
        ray_node_rows(row + 1u, vec4u(low.x, high.x, low.y, high.y));
        ray_node_rows(row + 2u, vec4u(low.z, high.z, order | present, 0u));
    } else {
        ray_node_rows(row, tree_row(node.origin, (exponent << 24u) | order));
        ray_node_rows(row + 1u, halves(lower[0], upper[0], is_missing));
        ray_node_rows(row + 2u, halves(lower[1], upper[1], is_missing));
        ray_node_rows(row + 3u, halves(lower[2], upper[2], is_missing));
    }
    ray_node_rows(ray_children_row(index), children);
}
