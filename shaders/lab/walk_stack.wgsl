// Walk down a binary tree, the nearer child first, the farther child on a stack. The importer defines lab_push and
// lab_pop. An iteration visits a node or a triangle. The host rejects trees deeper than the stack.
#import "lab/binary.wgsl"

fn lab_walk(ray: Ray, any: bool) -> LabHit {
    let prepared = lab_ray(ray);
    let inverse = lab_inverse(ray.direction);
    var hit = lab_miss(ray);
    var next = query.root;
    var leaf = vec2u(0u);
    var depth = 0u;
    loop {
        if leaf.x == leaf.y && next != BVH_MISS && lab_is_leaf(next) {
            leaf = lab_leaf(next);
            next = BVH_MISS;
            if depth > 0u {
                depth--;
                next = lab_pop(depth);
            }
        }
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
            let children = lab_children(next, ray, inverse, hit.t);
            next = BVH_MISS;
            if children.enter.y < EMPTY_BOX_EXTENT {
                lab_push(depth, children.references.y);
                depth++;
            }
            if children.enter.x < EMPTY_BOX_EXTENT {
                next = children.references.x;
            } else if depth > 0u {
                depth--;
                next = lab_pop(depth);
            }
        }
    }
    return hit;
}
