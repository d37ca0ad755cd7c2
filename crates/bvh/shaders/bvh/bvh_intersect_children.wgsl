// Intersection of a ray with the boxes of a node's children.
#import "bvh/ray.wgsl"
#import "bvh/tree_read.wgsl"

// Returns the inverse direction, with zeros replaced so that no slab test computes 0 · ∞.
fn bvh_inverse(direction: vec3f) -> vec3f {
    let tiny = vec3f(1.0e-20);
    return 1.0 / select(direction, select(tiny, -tiny, direction < vec3f(0.0)), abs(direction) < tiny);
}

// Returns the distances at which the ray enters a node's four child boxes, or negative numbers for those that it misses
// (`t_min` is never negative). Rounding never loses a box whose triangle would be hit (after Ize 2013). With planes at
// q steps from the grid's origin, q · step · inverse + (origin − ray.origin) · inverse errs by 3 · 2^-24 of the
// distance itself and of q · step · inverse. The error of the product, for at most 255 steps, is within the box's
// slack. The division errs by 2.5 ulp on each axis (WGSL), so each side of a slab may be off by 4 ulp. The margin must
// be 8 ulp, which is less than 1e-6.
fn bvh_intersect_children(node: Node, ray: Ray, inverse: vec3f) -> vec4f {
    let forward = inverse >= vec3f(0.0);
    let near = select(node.upper, node.lower, forward);
    let far = select(node.lower, node.upper, forward);
    let step = bvh_grid_step(node) * inverse;
    let start = (node.origin - ray.origin) * inverse;
    let near_x = bvh_steps(near.x) * step.x + start.x;
    let near_y = bvh_steps(near.y) * step.y + start.y;
    let near_z = bvh_steps(near.z) * step.z + start.z;
    let far_x = bvh_steps(far.x) * step.x + start.x;
    let far_y = bvh_steps(far.y) * step.y + start.y;
    let far_z = bvh_steps(far.z) * step.z + start.z;
    let enter = max(max(near_x, near_y), max(near_z, vec4f(ray.t_min)));
    let leave = min(min(far_x, far_y), far_z) * BVH_MARGIN;
    return select(vec4f(-1.0), enter, enter <= min(leave, vec4f(ray.t_max)));
}
