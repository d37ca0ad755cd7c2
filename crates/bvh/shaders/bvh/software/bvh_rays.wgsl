// Replacement of bvh/bvh_rays.wgsl by the traversal with a private stack. It serves software adapters, which run it
// faster, and shaders without workgroup memory.
#import "bvh/bvh.wgsl"

// Declared because the host sets it for both traversals. This one ignores it, and always makes the any-hit test.
override BVH_TESTS_HITS: bool = true;

fn bvh_ray_begin(thread: u32) {}
