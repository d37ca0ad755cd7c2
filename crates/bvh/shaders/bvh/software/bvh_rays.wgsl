// Ray traversal in place of bvh/bvh_rays.wgsl: on software adapters, which run the traversal with a private stack
// faster, and in shaders without workgroup memory.
#import "bvh/bvh.wgsl"

// Always true.
override BVH_TESTS_HITS: bool = true;

fn bvh_ray_begin(thread: u32) {}
