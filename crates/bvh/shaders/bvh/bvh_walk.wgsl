// Traversal of the BVH (group 1, bvh/tree_read.wgsl) for queries other than rays. It alternates between descending
// nodes to leaves and testing those leaves. The query tests each node's children and each leaf. This file decides the
// order:
//     var walk = bvh_walk_begin(leaf_cutoff);
//     loop {
//         for (var number = bvh_walk_node(&walk, reach); number != BVH_MISS; number = bvh_walk_node(&walk, reach)) {
//             let node = tree_node(number);
//             bvh_walk_into(&walk, number, node, distances, visited);
//         }
//         if bvh_walk_is_done(&walk) { break; }
//         while !bvh_walk_is_done(&walk) {
//             let leaf = bvh_walk_leaf(&walk);
//         }
//     }
// llvmpipe executes every instruction of a loop body in every iteration, and both sides of every branch. So each test
// appears once in the source, and short loops replace branches.
#import "bvh/tree_read.wgsl"

struct BvhWalk {
    leaf_cutoff: u32,
    // First leaf of the current mesh.
    first: u32,
    // Pending work, in this order: the leaves leaf..end, the leaves later_leaf..later_end, then `next`.
    leaf: u32,
    end: u32,
    later_leaf: u32,
    later_end: u32,
    next: u32,
    visits: u32,
    // Traversal stack of nodes or meshes. The last four entries and the bits of their distances are in registers, the
    // last entry first, with BVH_MISS for empty entries. Earlier entries are in an array without distances, because
    // most traversals never need it, and its entries are always visited. WGSL zero-initialises the array. On llvmpipe,
    // the time to compile that grows with the square of the array's words.
    top: vec4u,
    top_distances: vec4u,
    depth: u32,
    stack: array<u32, STACK_SIZE>,
}

fn bvh_walk_begin(cutoff: u32) -> BvhWalk {
    var walk: BvhWalk;
    walk.leaf_cutoff = max(tree.leaf_cutoff, cutoff);
    walk.visits = tree.triangle_count + tree.mesh_count;
    walk.next = bvh_root();
    walk.top = vec4u(BVH_MISS);
    return walk;
}

// Pushes a node or mesh if `is_entered`. In an unordered traversal, all distances are 0.
fn bvh_walk_push(walk: ptr<function, BvhWalk>, number: u32, is_entered: bool) {
    while is_entered && (*walk).top.w != BVH_MISS {
        (*walk).stack[(*walk).depth] = (*walk).top.w;
        (*walk).depth++;
        (*walk).top.w = BVH_MISS;
    }
    (*walk).top = select((*walk).top, vec4u(number, (*walk).top.xyz), is_entered);
}

// Pops the last entry. Returns BVH_MISS if the entry is known to be no nearer than `reach`.
fn bvh_walk_pop(walk: ptr<function, BvhWalk>, reach: f32) -> u32 {
    while (*walk).top.x == BVH_MISS && (*walk).depth > 0u {
        (*walk).depth--;
        (*walk).top.x = (*walk).stack[(*walk).depth];
        (*walk).top_distances.x = 0u;
    }
    let number = select(BVH_MISS, (*walk).top.x, bitcast<f32>((*walk).top_distances.x) < reach);
    (*walk).top = vec4u((*walk).top.yzw, BVH_MISS);
    (*walk).top_distances = vec4u((*walk).top_distances.yzw, 0u);
    return number;
}

// True if no leaves are pending. If bvh_walk_node has returned BVH_MISS before, the traversal is over.
fn bvh_walk_is_done(walk: ptr<function, BvhWalk>) -> bool {
    return (*walk).leaf == (*walk).end;
}

// Returns the next pending leaf.
fn bvh_walk_leaf(walk: ptr<function, BvhWalk>) -> u32 {
    let leaf = (*walk).leaf;
    (*walk).leaf++;
    if (*walk).leaf == (*walk).end {
        (*walk).leaf = (*walk).later_leaf;
        (*walk).end = (*walk).later_end;
        (*walk).later_leaf = (*walk).later_end;
    }
    return leaf;
}

// Returns the next node nearer than `reach`, or BVH_MISS if leaves are pending or the traversal is over.
fn bvh_walk_node(walk: ptr<function, BvhWalk>, reach: f32) -> u32 {
    var number = BVH_MISS;
    loop {
        let is_waiting = (*walk).leaf != (*walk).end;
        let is_over = (*walk).next == BVH_MISS && (*walk).top.x == BVH_MISS && (*walk).depth == 0u;
        if is_waiting || is_over || (*walk).visits == 0u {
            break;
        }
        for (var is_popped = (*walk).next == BVH_MISS; is_popped; is_popped = false) {
            (*walk).next = bvh_walk_pop(walk, reach);
        }
        while (*walk).next != BVH_MISS && !bvh_is_node((*walk).next) {
            let mesh = tree_triangle((*walk).next & ~BVH_MESH);
            (*walk).first = mesh.triangle;
            (*walk).next = mesh.triangle;
            if mesh.payload <= (*walk).leaf_cutoff {
                (*walk).leaf = mesh.triangle;
                (*walk).end = mesh.triangle + mesh.payload;
                (*walk).later_leaf = (*walk).later_end;
                (*walk).next = BVH_MISS;
            }
        }
        if (*walk).next != BVH_MISS {
            number = (*walk).next;
            (*walk).next = BVH_MISS;
            (*walk).visits--;
            break;
        }
    }
    return number;
}

// Returns the mask of the visited children that are nodes or meshes, and sets `numbers` to the stack entries of all
// four. Visited leaves become pending, as one range for the first two children and one for the last two.
fn bvh_walk_ranges(
    walk: ptr<function, BvhWalk>,
    number: u32,
    node: Node,
    visited: vec4<bool>,
    numbers: ptr<function, vec4u>,
) -> vec4<bool> {
    let over_meshes = number >= tree.triangle_count;
    let starts = vec4u(node.first, node.ends.xyz);
    let counts = node.ends - starts;
    let is_leaf = counts <= vec4u(select((*walk).leaf_cutoff, 1u, over_meshes));
    let is_range = is_leaf & vec4<bool>(!over_meshes);
    let is_there = visited & (counts != vec4u(0u));
    *numbers = bvh_children(node, over_meshes, is_leaf);
    let tested = is_there & is_range;
    var entered = is_there & !is_range;
    var leaf = select(starts.y, starts.x, tested.x);
    var end = select(starts.y, starts.z, tested.y);
    var later_leaf = select(starts.w, starts.z, tested.z);
    let later_end = select(starts.w, node.ends.w, tested.w);
    if leaf == end {
        leaf = later_leaf;
        end = later_end;
        later_leaf = later_end;
    }
    if (*walk).depth + 4u > STACK_SIZE {
        // The stack is full, so test the node as one range.
        leaf = node.first;
        end = node.ends.w;
        later_leaf = later_end;
        entered = vec4<bool>(false);
    }
    (*walk).leaf = leaf;
    (*walk).end = end;
    (*walk).later_leaf = later_leaf;
    (*walk).later_end = later_end;
    return entered;
}

// Enters the `visited` children of a node, in any order.
fn bvh_walk_into_all(walk: ptr<function, BvhWalk>, number: u32, node: Node, visited: vec4<bool>) {
    var numbers: vec4u;
    let entered = bvh_walk_ranges(walk, number, node, visited, &numbers);
    for (var i = 0u; i < 4u; i++) {
        // Push the previous child.
        let is_entered = entered[i];
        bvh_walk_push(walk, (*walk).next, is_entered && (*walk).next != BVH_MISS);
        (*walk).next = select((*walk).next, numbers[i], is_entered);
    }
}

// Enters the `visited` children of a node, nearest first. Distances must not be negative.
fn bvh_walk_into(
    walk: ptr<function, BvhWalk>,
    number: u32,
    node: Node,
    distances: vec4f,
    visited: vec4<bool>,
) {
    var numbers: vec4u;
    let entered = bvh_walk_ranges(walk, number, node, visited, &numbers);
    // Sort by distance. The lowest bits hold the child's index.
    let keys = select(
        vec4u(BVH_MISS),
        (bitcast<vec4u>(distances) & vec4u(0x7ffffffcu)) | vec4u(0u, 1u, 2u, 3u),
        entered,
    );
    let low = min(keys.xz, keys.yw);
    let high = max(keys.xz, keys.yw);
    let inner = vec2u(max(low.x, low.y), min(high.x, high.y));
    let order = vec3u(max(high.x, high.y), max(inner.x, inner.y), min(inner.x, inner.y));
    for (var i = 0u; i < 3u; i++) {
        let is_entered = order[i] != BVH_MISS;
        bvh_walk_push(walk, numbers[order[i] & 3u], is_entered);
        let nearer = vec4u(order[i] & ~3u, (*walk).top_distances.xyz);
        (*walk).top_distances = select((*walk).top_distances, nearer, is_entered);
    }
    let nearest = min(low.x, low.y);
    (*walk).next = select(numbers[nearest & 3u], BVH_MISS, nearest == BVH_MISS);
}

// Returns the mesh of a leaf and the leaf's index within that mesh, whose first leaf is `first`.
fn bvh_leaf_name(leaf: u32, first: u32) -> vec2u {
    let object = tree_triangle(leaf);
    return vec2u(object.mesh & ~ANY_HIT_TEST, object.triangle - first);
}

// Returns the mesh of a leaf that the traversal has just returned, and the leaf's index within that mesh.
fn bvh_walk_name(walk: ptr<function, BvhWalk>, leaf: u32) -> vec2u {
    return bvh_leaf_name(leaf, (*walk).first);
}
