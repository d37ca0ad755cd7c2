// Walk over nodes with four children. The nearest child comes first. The other children go on a stack in private
// memory, the farthest first (Wald, Benthin and Boulos 2008; Ylitie, Karras and Laine 2017). A node has seven rows:
// lower x, y and z, upper x, y and z of the four boxes, and their references. A missing child has an empty box.
#import "lab/data.wgsl"
#import "lab/reference.wgsl"

var<private> lab_stack: array<u32, LAB_STACK>;

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
                next = lab_stack[depth];
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
            let row = 7u * next;
            let ax = (bitcast<vec4f>(nodes[row]) - ray.origin.x) * inverse.x;
            let bx = (bitcast<vec4f>(nodes[row + 3u]) - ray.origin.x) * inverse.x;
            let ay = (bitcast<vec4f>(nodes[row + 1u]) - ray.origin.y) * inverse.y;
            let by = (bitcast<vec4f>(nodes[row + 4u]) - ray.origin.y) * inverse.y;
            let az = (bitcast<vec4f>(nodes[row + 2u]) - ray.origin.z) * inverse.z;
            let bz = (bitcast<vec4f>(nodes[row + 5u]) - ray.origin.z) * inverse.z;
            let enter = max(max(min(ax, bx), min(ay, by)), max(min(az, bz), vec4f(ray.t_min)));
            let leave = min(min(max(ax, bx), max(ay, by)), min(max(az, bz), vec4f(hit.t))) * BVH_MARGIN;
            let references = nodes[row + 6u];
            let is_entered = (enter <= leave) & (references != vec4u(BVH_MISS));
            // Sorts by distance. The bits of non-negative floats sort like integers, and the lowest two bits hold the
            // child's number.
            let distances = bitcast<vec4u>(max(enter, vec4f(0.0))) & vec4u(0x7ffffffcu);
            let keys = select(vec4u(BVH_MISS), distances | vec4u(0u, 1u, 2u, 3u), is_entered);
            let low = min(keys.xz, keys.yw);
            let high = max(keys.xz, keys.yw);
            let inner = vec2u(max(low.x, low.y), min(high.x, high.y));
            let later = vec3u(max(high.x, high.y), max(inner.x, inner.y), min(inner.x, inner.y));
            for (var i = 0u; i < 3u; i++) {
                if later[i] != BVH_MISS {
                    lab_stack[depth] = references[later[i] & 3u];
                    depth++;
                }
            }
            let nearest = min(low.x, low.y);
            next = BVH_MISS;
            if nearest != BVH_MISS {
                next = references[nearest & 3u];
            } else if depth > 0u {
                depth--;
                next = lab_stack[depth];
            }
        }
    }
    return hit;
}
