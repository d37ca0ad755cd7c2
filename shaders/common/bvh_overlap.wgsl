// The objects of the tree that a region touches, one after the other. The tree is group 1
// (common/tree_read.wgsl).
//
// A walk is begun, and then asked for the next leaf until there is none:
//     let region = bvh_region_box(lower, upper);
//     var walk = bvh_overlap_begin(region, leaf_cutoff);
//     for (var leaf = bvh_overlap_next(&walk, region); leaf != BVH_MISS; leaf = bvh_overlap_next(&walk, region)) {
//         let name = bvh_walk_name(&walk, leaf);
//     }
// Objects are tested themselves, not their boxes alone. Touching counts.
#import "common/bvh_region.wgsl"
#import "common/bvh_walk.wgsl"

// A region that holds nothing, as a box whose lower corner is above its upper one, touches nothing.
fn bvh_overlap_begin(region: BvhRegion, cutoff: u32) -> BvhWalk {
    var walk = bvh_walk_begin(region.lower.x, cutoff);
    if !bvh_region_is_valid(region) {
        walk.next = BVH_MISS;
    }
    return walk;
}

// The leaf index of the next object, or BVH_MISS.
fn bvh_overlap_next(walk: ptr<function, BvhWalk>, region: BvhRegion) -> u32 {
    loop {
        for (var leaf = bvh_walk_leaf(walk); leaf != BVH_MISS; leaf = bvh_walk_leaf(walk)) {
            if bvh_region_touches(region, tree_triangle(leaf)) {
                return leaf;
            }
        }
        let number = bvh_walk_node(walk, 1.0);
        if number == BVH_MISS {
            break;
        }
        if bvh_is_node(number) {
            let node = tree_node(number);
            bvh_walk_into(walk, number, node, vec4f(0.0), bvh_region_enters(node, region));
        }
    }
    return BVH_MISS;
}
