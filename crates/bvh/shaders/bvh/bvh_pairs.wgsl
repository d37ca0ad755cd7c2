// Traversal from a leaf of one BVH to the touching objects of another BVH (group 1), which may be the same BVH. Within
// one BVH, a leaf only looks for leaves after itself, and skips subtrees that end before it. If only objects of
// different meshes count, it skips the tree of its own mesh.
//     while pairs_advance(&walk, search) {
//         while !bvh_walk_is_done(&walk) {
//             let leaf = bvh_walk_leaf(&walk);
//             for (var is_found = pairs_accept(search, leaf); is_found; is_found = false) { … }
//         }
//     }
#import "bvh/predicate.wgsl"
#import "bvh/bvh_objects_overlap.wgsl"
#import "bvh/bvh_penetration.wgsl"
#import "bvh/bvh_walk.wgsl"

struct PairQuery {
    // Number of leaves in the other tree.
    count: u32,
    leaf_cutoff: u32,
    // Capacity of the output, in pairs.
    capacity: u32,
    mask: u32,
    // 1 for pairs within one tree.
    within: u32,
    // 1 if triangles with a common vertex do not count.
    distinct: u32,
    // 1 if only objects of different meshes count.
    across: u32,
    // 1 if bvh/software/pairs_descend.wgsl has run before.
    descended: u32,
}

// 1 if triangles count only if they pass through each other.
override PAIRS_THROUGH: u32 = 0u;

@group(0) @binding(0) var<uniform> query: PairQuery;

struct PairSearch {
    other: LeafTriangle,
    leaf: u32,
    lower: vec3f,
    upper: vec3f,
}

// Creates the search of a leaf, where `other` is the object of that leaf.
fn pairs_search(leaf: u32, other: LeafTriangle) -> PairSearch {
    let around = bvh_corner_box(other);
    return PairSearch(other, leaf, around.lower, around.upper);
}

fn pairs_begin(leaf: u32, other: LeafTriangle, walk: ptr<function, BvhWalk>) -> PairSearch {
    *walk = bvh_walk_begin(query.leaf_cutoff);
    // Objects that no tree can hold are stored at EMPTY_BOX_EXTENT.
    if other.v0.x >= EMPTY_BOX_EXTENT {
        (*walk).next = BVH_MISS;
    }
    return pairs_search(leaf, other);
}

// Advances the traversal until leaves are pending. Returns false at the end.
fn pairs_advance(walk: ptr<function, BvhWalk>, search: PairSearch) -> bool {
    // First leaf that counts.
    let first = search.leaf * query.within + query.within;
    let own = select(BVH_MISS, search.other.mesh & ~ANY_HIT_TEST, query.across != 0u);
    for (var number = bvh_walk_node(walk, 1.0); number != BVH_MISS; number = bvh_walk_node(walk, 1.0)) {
        let node = tree_node(number);
        let over_meshes = number >= tree.triangle_count;
        let is_ahead = (node.ends > vec4u(first)) & vec4<bool>(node.mesh != own);
        let touches = bvh_boxes_touch(node, search.lower, search.upper);
        bvh_walk_into_all(walk, number, node, touches & (is_ahead | vec4<bool>(over_meshes)));
    }
    return !bvh_walk_is_done(walk);
}

fn pairs_accept(search: PairSearch, leaf: u32) -> bool {
    let object = tree_triangle(leaf);
    let around = bvh_corner_box(object);
    let is_near = all(around.lower <= search.upper) && all(around.upper >= search.lower);
    let is_of_same = ((object.mesh ^ search.other.mesh) & ~ANY_HIT_TEST) == 0u;
    let is_open = is_near && (query.within == 0u || leaf > search.leaf) && (query.across == 0u || !is_of_same);
    return is_open && bvh_query_accepts(search.leaf, object, query.mask) && pairs_touch(object, search.other);
}

fn pairs_touch(object: LeafTriangle, other: LeafTriangle) -> bool {
    if BVH_OBJECTS == BVH_TRIANGLES && BVH_OTHERS == BVH_TRIANGLES {
        if query.distinct != 0u && bvh_share_corner(object, other) {
            return false;
        }
        if PAIRS_THROUGH != 0u {
            return bvh_triangles_pass_through(object, other);
        }
    }
    return bvh_objects_overlap(object, other);
}
