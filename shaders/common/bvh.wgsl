// Traversal: the one core that every query shares. The tree is group 1.
//
// A ray visits nodes near child first; a child with at most `leaf_cutoff` triangles is tested as a whole, its triangles being a range in
// leaf order. The stack holds at most one entry a level, and a tree of 30-bit codes over n triangles has at most 30 + log2(n) levels; a
// tree that outgrew the stack would still be traversed rightly, because a node that finds no room is tested as a range.
//
// The includer defines `bvh_consents(triangle: LeafTriangle, barycentric: vec2f) -> bool`, asked for triangles with NEEDS_CONSENT.
#import "common/box.wgsl"
#import "common/tree.wgsl"

@group(1) @binding(0) var<storage, read> tlas: array<TlasEntry>;
@group(1) @binding(1) var<storage, read> nodes: array<Node>;
@group(1) @binding(2) var<storage, read> triangles: array<LeafTriangle>;

struct Ray {
    origin: vec3f,
    t_min: f32,
    direction: vec3f,
    t_max: f32,
}

struct Hit {
    // In units of the direction's length; the ray's t_max where nothing was hit.
    t: f32,
    // Weights of v1 and v2.
    barycentric: vec2f,
    // Place in leaf order; all ones where nothing was hit.
    place: u32,
}

const BVH_MISS = 0xffffffffu;

// Nodes and triangles that this thread has visited.
var<private> bvh_nodes_visited: u32;
var<private> bvh_triangles_visited: u32;

// A direction without zeros, so that no slab gives 0 · ∞.
fn bvh_inverse(direction: vec3f) -> vec3f {
    let tiny = vec3f(1.0e-20);
    return 1.0 / select(direction, select(tiny, -tiny, direction < vec3f(0.0)), abs(direction) < tiny);
}

// Distance at which the ray enters the box, or a negative number for a miss (`t_min` is never negative). The far side is taken 4 ulp further, so that rounding never
// loses a box whose triangle would be hit (Ize 2013).
fn bvh_enter(lower: vec3f, upper: vec3f, ray: Ray, inverse: vec3f) -> f32 {
    let forward = inverse >= vec3f(0.0);
    let near = (select(upper, lower, forward) - ray.origin) * inverse;
    let far = (select(lower, upper, forward) - ray.origin) * inverse;
    let enter = max(max(near.x, near.y), max(near.z, ray.t_min));
    let leave = min(min(far.x, far.y), far.z) * 1.00000048;
    return select(-1.0, enter, enter <= min(leave, ray.t_max));
}

// The ray against a triangle, both sides. Edge functions by Plücker coordinates: the two triangles of an edge compute exactly opposite
// values for it, so no ray slips between them.
fn bvh_triangle(triangle: LeafTriangle, ray: Ray, hit: ptr<function, Hit>) -> bool {
    let a = triangle.v0 - ray.origin;
    let b = triangle.v1 - ray.origin;
    let c = triangle.v2 - ray.origin;
    let u = dot(cross(c + b, c - b), ray.direction);
    let v = dot(cross(a + c, a - c), ray.direction);
    let w = dot(cross(b + a, b - a), ray.direction);
    if min(u, min(v, w)) < 0.0 && max(u, max(v, w)) > 0.0 {
        return false;
    }
    let sum = u + v + w;
    let normal = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    let approach = dot(normal, ray.direction);
    if sum == 0.0 || approach == 0.0 {
        return false;
    }
    let t = dot(normal, a) / approach;
    if !(t > ray.t_min && t < (*hit).t) {
        return false;
    }
    let barycentric = vec2f(v, w) / sum;
    if (triangle.mesh & NEEDS_CONSENT) != 0u && !bvh_consents(triangle, barycentric) {
        return false;
    }
    (*hit).t = t;
    (*hit).barycentric = barycentric;
    return true;
}

// The ray against the triangles first..=last in leaf order.
fn bvh_range(first: u32, last: u32, ray: Ray, any: bool, hit: ptr<function, Hit>) -> bool {
    var found = false;
    for (var place = first; place <= last; place++) {
        bvh_triangles_visited++;
        if bvh_triangle(triangles[place], ray, hit) {
            (*hit).place = place;
            found = true;
            if any {
                return true;
            }
        }
    }
    return found;
}

// The ray against one mesh's tree.
fn bvh_mesh(entry: TlasEntry, ray_in: Ray, inverse: vec3f, leaf_cutoff: u32, any: bool, hit: ptr<function, Hit>) -> bool {
    let begin = entry.first_triangle;
    if entry.triangle_count <= leaf_cutoff || entry.node_count == 0u {
        return bvh_range(begin, begin + entry.triangle_count - 1u, ray_in, any, hit);
    }
    var ray = ray_in;
    var stack: array<u32, STACK_SIZE>;
    var depth = 0u;
    var node_index = entry.node_offset;
    var found = false;
    // Each node is visited once at the most.
    for (var visits = 0u; visits < entry.node_count; visits++) {
        let node = nodes[node_index];
        bvh_nodes_visited++;
        ray.t_max = (*hit).t;
        var left = bvh_enter(node.left_min, node.left_max, ray, inverse);
        var right = bvh_enter(node.right_min, node.right_max, ray, inverse);
        if left >= 0.0 && node.split - node.first < leaf_cutoff {
            if bvh_range(node.first, node.split, ray, any, hit) {
                found = true;
                if any {
                    return true;
                }
            }
            left = -1.0;
        }
        if right >= 0.0 && node.last - node.split <= leaf_cutoff {
            if bvh_range(node.split + 1u, node.last, ray, any, hit) {
                found = true;
                if any {
                    return true;
                }
            }
            right = -1.0;
        }
        if left >= 0.0 && right >= 0.0 {
            let left_first = left <= right;
            if depth < STACK_SIZE {
                stack[depth] = select(node.split, node.split + 1u, left_first);
                depth++;
            } else {
                let first = select(node.first, node.split + 1u, left_first);
                let last = select(node.split, node.last, left_first);
                if bvh_range(first, last, ray, any, hit) {
                    found = true;
                    if any {
                        return true;
                    }
                }
            }
            node_index = select(node.split + 1u, node.split, left_first);
        } else if left >= 0.0 {
            node_index = node.split;
        } else if right >= 0.0 {
            node_index = node.split + 1u;
        } else if depth > 0u {
            depth--;
            node_index = stack[depth];
        } else {
            break;
        }
    }
    return found;
}

// The ray against every mesh whose box it enters.
fn bvh_trace(ray: Ray, leaf_cutoff: u32, any: bool) -> Hit {
    var hit = Hit(ray.t_max, vec2f(0.0), BVH_MISS);
    let inverse = bvh_inverse(ray.direction);
    let meshes = arrayLength(&tlas);
    for (var mesh = 0u; mesh < meshes; mesh++) {
        let entry = tlas[mesh];
        let nearer = Ray(ray.origin, ray.t_min, ray.direction, hit.t);
        bvh_nodes_visited++;
        if entry.triangle_count == 0u || bvh_enter(entry.box_min, entry.box_max, nearer, inverse) < 0.0 {
            continue;
        }
        if bvh_mesh(entry, nearer, inverse, leaf_cutoff, any, &hit) && any {
            return hit;
        }
    }
    return hit;
}

// The nearest hit.
fn bvh_closest_hit(ray: Ray, leaf_cutoff: u32) -> Hit {
    return bvh_trace(ray, leaf_cutoff, false);
}

// Whether anything is hit.
fn bvh_any_hit(ray: Ray, leaf_cutoff: u32) -> bool {
    return bvh_trace(ray, leaf_cutoff, true).place != BVH_MISS;
}
