// Walk down a kd-tree with a short stack of four entries in registers. If it runs empty, the walk restarts from the
// root, after the visited part of the ray (Foley and Sugerman 2005; Horn et al. 2007). Each node has a row of `nodes`:
// the axis, the plane, and the children below and above it. A leaf has the axis 3, and the begin and the end of its
// triangles in `links`.
#import "lab/data.wgsl"

fn lab_walk(ray: Ray, any: bool) -> LabHit {
    let prepared = lab_ray(ray);
    let inverse = lab_inverse(ray.direction);
    var hit = lab_miss(ray);
    var enter = lab_enter(query.lower, query.upper, ray, inverse, ray.t_max);
    var is_inside = enter < EMPTY_BOX_EXTENT;
    let a = (query.lower - ray.origin) * inverse;
    let b = (query.upper - ray.origin) * inverse;
    let far = max(a, b);
    let end = min(far.x, min(far.y, far.z)) * BVH_MARGIN;
    var leave = end;
    var next = query.root;
    var stack = vec4u(BVH_MISS);
    var stack_leave = vec4f(0.0);
    var leaf = vec2u(0u);
    loop {
        if leaf.x != leaf.y {
            lab_triangles_visited++;
            let is_hit = lab_intersect(links[leaf.x], prepared, &hit);
            leaf.x++;
            if is_hit && any {
                break;
            }
        } else {
            if !is_inside || enter > hit.t {
                break;
            }
            lab_nodes_visited++;
            let node = nodes[next];
            if node.x == 3u {
                leaf = node.yz;
                is_inside = leave < end;
                enter = leave;
                next = stack.x;
                leave = stack_leave.x;
                stack = vec4u(stack.yzw, BVH_MISS);
                stack_leave = vec4f(stack_leave.yzw, 0.0);
                if next == BVH_MISS {
                    next = query.root;
                    leave = end;
                }
            } else {
                let t = (bitcast<f32>(node.y) - ray.origin[node.x]) * inverse[node.x];
                let order = select(node.wz, node.zw, inverse[node.x] > 0.0);
                if t <= enter {
                    next = order.y;
                } else if t >= leave {
                    next = order.x;
                } else {
                    stack = vec4u(order.y, stack.xyz);
                    stack_leave = vec4f(leave, stack_leave.xyz);
                    next = order.x;
                    leave = t;
                }
            }
        }
    }
    return hit;
}
