// Walk with a short stack of four entries in registers. If it runs empty, the walk restarts at the root and follows a
// trail (Laine 2010, "Restart Trail for Stackless BVH Traversal"). A bit of the trail is 0 while the nearer of two
// children is being visited. It is 1 from then on, or if only one child is hit. Children are tested against the full
// length of the ray, so that the way down is the same each time. Nodes beyond the hit are skipped at once.
#import "lab/binary.wgsl"
#import "lab/trail.wgsl"

fn lab_walk(ray: Ray, any: bool) -> LabHit {
    let prepared = lab_ray(ray);
    let inverse = lab_inverse(ray.direction);
    var hit = lab_miss(ray);
    var next = query.root;
    var leaf = vec2u(0u);
    var level = 0u;
    var trail = vec2u(0u);
    var stack = vec4u(BVH_MISS);
    loop {
        if leaf.x == leaf.y && lab_is_leaf(next) {
            leaf = lab_leaf(next);
        }
        // True once everything below `next` has been visited.
        var is_done = false;
        if leaf.x != leaf.y {
            lab_triangles_visited++;
            let is_hit = lab_intersect(leaf.x, prepared, &hit);
            leaf.x++;
            is_done = leaf.x == leaf.y;
            if is_hit && any {
                break;
            }
        } else {
            lab_nodes_visited++;
            let children = lab_children(next, ray, inverse, ray.t_max);
            let bit = lab_bit(level);
            let are_both_hit = children.enter.y < EMPTY_BOX_EXTENT;
            let is_second = are_both_hit && ((trail.x & bit.x) | (trail.y & bit.y)) != 0u;
            if are_both_hit && !is_second {
                stack = vec4u(children.references.y, stack.xyz);
            }
            if !are_both_hit {
                trail |= bit;
            }
            next = select(children.references.x, children.references.y, is_second);
            let enter = select(children.enter.x, children.enter.y, is_second);
            level++;
            is_done = enter > hit.t * BVH_MARGIN;
        }
        if is_done {
            let turn = lab_deepest(~trail & lab_above(level));
            if turn == BVH_MISS {
                break;
            }
            trail = (trail & lab_above(turn)) | lab_bit(turn);
            next = stack.x;
            level = turn + 1u;
            stack = vec4u(stack.yzw, BVH_MISS);
            if next == BVH_MISS {
                next = query.root;
                level = 0u;
            }
        }
    }
    return hit;
}
