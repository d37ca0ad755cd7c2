// Overlap of a region with the BVH's objects, one after another. The BVH is in bind group 1 (bvh/tree_read.wgsl).
//
// Begin a traversal, and ask it for the next leaf until there is none:
//     let region = bvh_region_box(lower, upper);
//     var walk = bvh_overlap_begin(region, leaf_cutoff);
//     for (var leaf = bvh_overlap_next(&walk, region); leaf != BVH_MISS; leaf = bvh_overlap_next(&walk, region)) {
//         let name = bvh_walk_name(&walk, leaf);
//     }
// The objects themselves are tested, not only their boxes. Touching counts as overlap.
#import "bvh/bvh_region.wgsl"
#import "bvh/bvh_walk.wgsl"

// Begins a traversal. An invalid region, such as a box with its lower corner above its upper one, touches nothing.
fn bvh_overlap_begin(region: BvhRegion, cutoff: u32) -> BvhWalk {
    var walk = bvh_walk_begin(cutoff);
    if !bvh_region_is_valid(region) {
        walk.next = BVH_MISS;
    }
    return walk;
}

// Advances the traversal until leaves are pending (test them `while !bvh_walk_is_done(walk)`). Returns false at the
// end.
fn bvh_overlap_advance(walk: ptr<function, BvhWalk>, region: BvhRegion) -> bool {
    for (var number = bvh_walk_node(walk, 1.0); number != BVH_MISS; number = bvh_walk_node(walk, 1.0)) {
        let node = tree_node(number);
        bvh_walk_into_all(walk, number, node, bvh_region_enters(node, region));
    }
    return !bvh_walk_is_done(walk);
}

// Returns the leaf of the next object, or BVH_MISS. Threads with a result wait for the next result of their neighbours.
fn bvh_overlap_next(walk: ptr<function, BvhWalk>, region: BvhRegion) -> u32 {
    var found = BVH_MISS;
    while found == BVH_MISS && bvh_overlap_advance(walk, region) {
        while found == BVH_MISS && !bvh_walk_is_done(walk) {
            let leaf = bvh_walk_leaf(walk);
            found = select(BVH_MISS, leaf, bvh_region_touches(region, tree_triangle(leaf)));
        }
    }
    return found;
}
