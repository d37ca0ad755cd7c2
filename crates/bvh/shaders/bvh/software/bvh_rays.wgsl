// Replacement of bvh/bvh_rays.wgsl by the traversal of bvh/bvh.wgsl. It serves software adapters, which run it faster,
// and the path of a pixel's ray, which shows its steps.
#import "bvh/bvh.wgsl"
#import "bvh/software/ray_stack.wgsl"

// Declared because the host sets it for both traversals. This one ignores it, and always makes the any-hit test.
override BVH_TESTS_HITS: bool = true;
