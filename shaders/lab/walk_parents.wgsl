// Stackless walk that goes back up by parent links, with a bit for each level whose other child is still to be visited
// (Barringer and Akenine-Möller 2013; Áfra and Szirmay-Kalos 2014). `links` holds the parent of each node. On the way
// down, boxes are tested against the full length of the ray, like in lab/walk_restart.wgsl. Steps up do not count as
// nodes.
#import "lab/binary.wgsl"
#import "lab/trail.wgsl"

fn lab_walk(ray: Ray, any: bool) -> LabHit {
    let prepared = lab_ray(ray);
    let inverse = lab_inverse(ray.direction);
    var hit = lab_miss(ray);
    var leaf = vec2u(0u);
    var level = 0u;
    var waiting = vec2u(0u);
    // Current node, or the parent of the current leaf.
    var node = query.root;
    var is_second = false;
    if lab_is_leaf(node) {
        leaf = lab_leaf(node);
    }
    loop {
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
            let children = lab_children(node, ray, inverse, ray.t_max);
            let bit = lab_bit(level);
            waiting = select(waiting & ~bit, waiting | bit, children.enter.y < EMPTY_BOX_EXTENT && !is_second);
            let next = select(children.references.x, children.references.y, is_second);
            let enter = select(children.enter.x, children.enter.y, is_second);
            is_second = false;
            is_done = enter > hit.t * BVH_MARGIN;
            if !is_done && lab_is_leaf(next) {
                leaf = lab_leaf(next);
            } else if !is_done {
                node = next;
                level++;
            }
        }
        if is_done {
            let turn = lab_deepest(waiting);
            if turn == BVH_MISS {
                break;
            }
            while level > turn {
                node = links[node];
                level--;
            }
            is_second = true;
        }
    }
    return hit;
}
