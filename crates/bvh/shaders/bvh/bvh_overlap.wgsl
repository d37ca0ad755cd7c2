// The objects of the tree that a region touches, one after the other. The tree is group 1
// (bvh/tree_read.wgsl).
//
// A walk is begun, and then asked for the next leaf until there is none:
//     let region = bvh_region_box(lower, upper);
//     var walk = bvh_overlap_begin(region, leaf_cutoff);
//     for (var leaf = bvh_overlap_next(&walk, region); leaf != BVH_MISS; leaf = bvh_overlap_next(&walk, region)) {
//         let name = bvh_walk_name(&walk, leaf);
//     }
// Objects are tested themselves, not their boxes alone. Touching counts.
#import "bvh/bvh_region.wgsl"
#import "bvh/bvh_walk.wgsl"

// A region that holds nothing, as a box whose lower corner is above its upper one, touches nothing.
fn bvh_overlap_begin(region: BvhRegion, cutoff: u32) -> BvhWalk {
    var walk = bvh_walk_begin(cutoff);
    if !bvh_region_is_valid(region) {
        walk.next = BVH_MISS;
    }
    return walk;
}

// Walks on until leaves wait to be tested (`while !bvh_walk_is_done(walk)`). False where there are no more.
fn bvh_overlap_advance(walk: ptr<function, BvhWalk>, region: BvhRegion) -> bool {
    for (var number = bvh_walk_node(walk, 1.0); number != BVH_MISS; number = bvh_walk_node(walk, 1.0)) {
        let node = tree_node(number);
        bvh_walk_into_all(walk, number, node, bvh_region_enters(node, region));
    }
    return !bvh_walk_is_done(walk);
}

// The leaf index of the next object, or BVH_MISS. Threads that have found one wait for their neighbours' next.
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
