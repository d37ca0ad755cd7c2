// A walk through the tree (group 1, common/tree_read.wgsl) for queries that are no rays. The query tests each
// node's children and each leaf; the walk knows what comes next:
//     var walk = bvh_walk_begin(point.x, leaf_cutoff);
//     loop {
//         for (var leaf = bvh_walk_leaf(&walk); leaf != BVH_MISS; leaf = bvh_walk_leaf(&walk)) { … }
//         let number = bvh_walk_node(&walk, reach);
//         if number == BVH_MISS { break; }
//         if bvh_is_node(number) {
//             let node = tree_node(number);
//             bvh_walk_into(&walk, number, node, distances, visited);
//         }
//     }
// Children are visited by distance, the nearest first, and left out from `reach` on. A query without distances
// says 0 everywhere, and a reach of 1.
#import "common/tree_read.wgsl"
#import "common/unseen.wgsl"

struct BvhWalk {
    leaf_cutoff: u32,
    // First leaf of the mesh that is being visited.
    first: u32,
    // Leaves that are to be tested: the range itself, and those after it.
    leaf: u32,
    end: u32,
    starts: vec3u,
    ends: vec3u,
    // What is visited next, if it is not BVH_MISS.
    next: u32,
    visits: u32,
    depth: u32,
    // What is to be visited, a node or a mesh, and its distance as bits.
    stack: array<vec2u, STACK_SIZE>,
}

// `unseen` is any number of the query's (common/unseen.wgsl).
fn bvh_walk_begin(unseen: f32, cutoff: u32) -> BvhWalk {
    var walk: BvhWalk;
    walk.leaf_cutoff = max(unseen_zero(abs(unseen)) + tree.leaf_cutoff, cutoff);
    walk.visits = tree.triangle_count + tree.mesh_count;
    walk.next = bvh_root();
    return walk;
}

// The next leaf to be tested, or BVH_MISS.
fn bvh_walk_leaf(walk: ptr<function, BvhWalk>) -> u32 {
    let leaf = (*walk).leaf;
    if leaf >= (*walk).end {
        return BVH_MISS;
    }
    (*walk).leaf++;
    // A loop, because software adapters run every branch.
    while (*walk).leaf == (*walk).end && (*walk).ends.x + (*walk).ends.y + (*walk).ends.z != 0u {
        (*walk).leaf = (*walk).starts.x;
        (*walk).end = (*walk).ends.x;
        (*walk).starts = vec3u((*walk).starts.yz, 0u);
        (*walk).ends = vec3u((*walk).ends.yz, 0u);
    }
    return leaf;
}

// The next node; BVH_MESH where a small mesh has left its leaves to be tested instead; BVH_MISS at the end.
fn bvh_walk_node(walk: ptr<function, BvhWalk>, reach: f32) -> u32 {
    var next = (*walk).next;
    (*walk).next = BVH_MISS;
    while next == BVH_MISS && (*walk).depth > 0u {
        (*walk).depth--;
        let top = (*walk).stack[(*walk).depth];
        if bitcast<f32>(top.y) < reach {
            next = top.x;
        }
    }
    if next != BVH_MISS && !bvh_is_node(next) {
        let mesh = tree_triangle(next & ~BVH_MESH);
        (*walk).first = mesh.triangle;
        next = mesh.triangle;
        if mesh.payload <= (*walk).leaf_cutoff {
            (*walk).leaf = next;
            (*walk).end = next + mesh.payload;
            next = BVH_MESH;
        }
    }
    if (*walk).visits == 0u {
        return BVH_MISS;
    }
    (*walk).visits--;
    return next;
}

// Goes into those children of a node that are `visited`: leaves are tested next, then comes the nearest of the
// others. Distances are not negative.
fn bvh_walk_into(
    walk: ptr<function, BvhWalk>,
    number: u32,
    node: Node,
    distances: vec4f,
    visited: vec4<bool>,
) {
    let over_meshes = number >= tree.triangle_count;
    let starts = vec4u(node.first, node.ends.xyz);
    let counts = node.ends - starts;
    let is_leaf = counts <= vec4u(select((*walk).leaf_cutoff, 1u, over_meshes));
    let is_range = is_leaf & vec4<bool>(!over_meshes);
    let is_there = visited & (counts != vec4u(0u));
    let numbers = bvh_children(node, over_meshes, is_leaf);
    // In the order of distances, whose lowest bits are the child's number.
    let keys = select(
        vec4u(BVH_MISS),
        (bitcast<vec4u>(distances) & vec4u(0x7ffffffcu)) | vec4u(0u, 1u, 2u, 3u),
        is_there & !is_range,
    );
    let low = min(keys.xz, keys.yw);
    let high = max(keys.xz, keys.yw);
    let inner = vec2u(max(low.x, low.y), min(high.x, high.y));
    let order = vec4u(max(high.x, high.y), max(inner.x, inner.y), min(inner.x, inner.y), min(low.x, low.y));
    // Ranges behind one another, each empty one left out.
    let is_tested = is_there & is_range;
    (*walk).leaf = 0u;
    (*walk).end = 0u;
    (*walk).starts = vec3u(0u);
    (*walk).ends = vec3u(0u);
    for (var i = 0u; i < 4u; i++) {
        let child = 3u - i;
        if is_tested[child] {
            (*walk).starts = vec3u((*walk).leaf, (*walk).starts.xy);
            (*walk).ends = vec3u((*walk).end, (*walk).ends.xy);
            (*walk).leaf = starts[child];
            (*walk).end = node.ends[child];
        }
    }
    if (*walk).depth + 3u > STACK_SIZE {
        // No room: all of it as one range.
        (*walk).leaf = node.first;
        (*walk).end = node.ends.w;
        (*walk).starts = vec3u(0u);
        (*walk).ends = vec3u(0u);
        return;
    }
    for (var i = 0u; i < 3u; i++) {
        if order[i] != BVH_MISS {
            (*walk).stack[(*walk).depth] = vec2u(numbers[order[i] & 3u], order[i] & ~3u);
            (*walk).depth++;
        }
    }
    if order.w != BVH_MISS {
        (*walk).next = numbers[order.w & 3u];
    }
}

// The mesh of a leaf that the walk has given last, and its number within that mesh.
fn bvh_walk_name(walk: ptr<function, BvhWalk>, leaf: u32) -> vec2u {
    let object = tree_triangle(leaf);
    return vec2u(object.mesh & ~ANY_HIT_TEST, object.triangle - (*walk).first);
}
