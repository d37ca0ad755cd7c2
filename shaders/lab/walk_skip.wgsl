// Stackless walk with skip pointers. Nodes are stored in depth-first order, and each knows the next node after its
// subtree (Smits 1998; Torres et al. 2009). A node has two rows. The first has the lower corner and the next node after
// the subtree, the second the upper corner and the reference of a leaf, or BVH_MISS. The order is the same for all
// rays.
#import "lab/data.wgsl"
#import "lab/reference.wgsl"

fn lab_walk(ray: Ray, any: bool) -> LabHit {
    let prepared = lab_ray(ray);
    let inverse = lab_inverse(ray.direction);
    var hit = lab_miss(ray);
    var next = query.root;
    var leaf = vec2u(0u);
    loop {
        if leaf.x != leaf.y {
            lab_triangles_visited++;
            let is_hit = lab_intersect(leaf.x, prepared, &hit);
            leaf.x++;
            if is_hit && any {
                break;
            }
        } else {
            if next == BVH_MISS {
                break;
            }
            lab_nodes_visited++;
            let lower = nodes[2u * next];
            let upper = nodes[2u * next + 1u];
            let enter = lab_enter(bitcast<vec3f>(lower.xyz), bitcast<vec3f>(upper.xyz), ray, inverse, hit.t);
            let is_entered = enter < EMPTY_BOX_EXTENT;
            if is_entered && upper.w != BVH_MISS {
                leaf = lab_leaf(upper.w);
            }
            next = select(lower.w, next + 1u, is_entered && upper.w == BVH_MISS);
        }
    }
    return hit;
}
