// Traversal: the one core that every query shares. The tree is group 1.
//
// One tree from the TLAS down: its leaves are meshes, each the root of a tree over triangles, and one stack
// serves both. Three steps in turn (Aila and Laine 2009, "while-while"): into the mesh that is next, down
// nodes to triangles, through those triangles. A visited node's children with at most `leaf_cutoff` triangles
// are tested as one range of leaves; of two further ones the nearer is next and the other is stacked. The
// stack holds at most one entry a level: a TLAS over n meshes has at most 30 + log2(n) levels, a tree of
// 30-bit codes over n triangles as many. A tree that outgrew the stack would still be traversed rightly,
// because a node of it that finds no room is tested as a range.
//
// Each test stands in the text once: software adapters run all of a loop's text in every round, and GPUs keep
// registers for all of it. For the same reason the any-hit test is called outside of those loops, and each
// loop is left at its end.
//
// The includer defines `bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool`: the any-hit test,
// called for triangles with ANY_HIT_TEST. There `triangle.triangle` is the number in the merged index buffer.
#import "common/box.wgsl"
#import "common/ray.wgsl"
#import "common/tree.wgsl"

@group(1) @binding(0) var<uniform> tree: TreeInfo;
#array read 1 1 tree_node_rows: vec4u
#array read 1 2 tree_triangle_rows: vec4u

fn tree_node(index: u32) -> Node {
    let row = NODE_ROWS * index;
    let a = tree_node_rows(row);
    let b = tree_node_rows(row + 1u);
    let c = tree_node_rows(row + 2u);
    let d = tree_node_rows(row + 3u);
    return Node(
        bitcast<vec3f>(a.xyz),
        a.w,
        bitcast<vec3f>(b.xyz),
        b.w,
        bitcast<vec3f>(c.xyz),
        c.w,
        bitcast<vec3f>(d.xyz),
        d.w,
    );
}

fn tree_triangle(leaf: u32) -> LeafTriangle {
    let row = TRIANGLE_ROWS * leaf;
    let a = tree_triangle_rows(row);
    let b = tree_triangle_rows(row + 1u);
    let c = tree_triangle_rows(row + 2u);
    return LeafTriangle(bitcast<vec3f>(a.xyz), a.w, bitcast<vec3f>(b.xyz), b.w, bitcast<vec3f>(c.xyz), c.w);
}

// A hit during traversal: its leaf, and the first triangle of its mesh. Names are looked up once, at the end.
struct BvhLeafHit {
    t: f32,
    barycentric: vec2f,
    leaf: u32,
    first: u32,
}

// Top bit of what is to be visited: a leaf of the TLAS, which is a mesh, instead of a node.
const BVH_MESH = 0x80000000u;

// Nodes, those of the TLAS among them, and triangles that this thread has visited.
var<private> bvh_nodes_visited: u32;
var<private> bvh_triangles_visited: u32;

// A direction without zeros, so that no slab gives 0 · ∞.
fn bvh_inverse(direction: vec3f) -> vec3f {
    let tiny = vec3f(1.0e-20);
    return 1.0 / select(direction, select(tiny, -tiny, direction < vec3f(0.0)), abs(direction) < tiny);
}

// Distance at which the ray enters the box, or a negative number for a miss (`t_min` is never negative). The
// far side is moved 4 ulp further, so that rounding never loses a box whose triangle would be hit (Ize 2013).
fn bvh_enter(lower: vec3f, upper: vec3f, ray: Ray, inverse: vec3f) -> f32 {
    let forward = inverse >= vec3f(0.0);
    let near = (select(upper, lower, forward) - ray.origin) * inverse;
    let far = (select(lower, upper, forward) - ray.origin) * inverse;
    let enter = max(max(near.x, near.y), max(near.z, ray.t_min));
    let leave = min(min(far.x, far.y), far.z) * 1.00000048;
    return select(-1.0, enter, enter <= min(leave, ray.t_max));
}

// The ray against a triangle, both sides; true, with `t` and `barycentric` of `hit` set, between the ray's
// t_min and t_max. Edge functions by Plücker coordinates: the two triangles of an edge compute exactly
// opposite values for it, so no ray slips between them.
fn bvh_triangle(triangle: LeafTriangle, ray: Ray, hit: ptr<function, BvhLeafHit>) -> bool {
    let a = triangle.v0 - ray.origin;
    let b = triangle.v1 - ray.origin;
    let c = triangle.v2 - ray.origin;
    let u = dot(cross(c + b, c - b), ray.direction);
    let v = dot(cross(a + c, a - c), ray.direction);
    let w = dot(cross(b + a, b - a), ray.direction);
    let normal = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    let approach = dot(normal, ray.direction);
    let t = dot(normal, a) / approach;
    let sum = u + v + w;
    let inside = min(u, min(v, w)) >= 0.0 || max(u, max(v, w)) <= 0.0;
    if !(inside && sum != 0.0 && approach != 0.0 && t > ray.t_min && t < ray.t_max) {
        return false;
    }
    (*hit).t = t;
    (*hit).barycentric = vec2f(v, w) / sum;
    return true;
}

// Whether `next` is a node: neither a mesh nor BVH_MISS, which has BVH_MESH's bit too.
fn bvh_is_node(next: u32) -> bool {
    return (next & BVH_MESH) == 0u;
}

// The nearest hit, or with `any` the first that is found.
fn bvh_traverse(ray_in: Ray, leaf_cutoff: u32, any: bool) -> BvhLeafHit {
    var ray = ray_in;
    let inverse = bvh_inverse(ray.direction);
    var hit = BvhLeafHit(ray.t_max, vec2f(0.0), BVH_MISS, 0u);
    // First triangle of the mesh that the ray is in.
    var first = 0u;
    // The leaves leaf..end are to be tested, then `next` is to be visited.
    var leaf = 0u;
    var end = 0u;
    let root = tree.triangle_count | select(BVH_MESH, 0u, tree.mesh_count > 1u);
    var next = select(root, BVH_MISS, tree.mesh_count == 0u);
    var stack: array<u32, STACK_SIZE>;
    var depth = 0u;
    // Each node comes up once at the most: a bound that no tree reaches, so that nothing hangs.
    var visits = tree.triangle_count + tree.mesh_count;
    loop {
        var candidate = BvhLeafHit(ray.t_max, vec2f(0.0), BVH_MISS, 0u);
        loop {
            // Into the mesh that is next.
            if leaf == end && !bvh_is_node(next) && next != BVH_MISS {
                let mesh = tree_triangle(next & ~BVH_MESH);
                first = mesh.triangle;
                next = first;
                if mesh.payload <= leaf_cutoff {
                    leaf = first;
                    end = leaf + mesh.payload;
                    next = BVH_MISS;
                    if depth > 0u {
                        depth--;
                        next = stack[depth];
                    }
                }
            }
            // Down to triangles.
            if leaf == end && bvh_is_node(next) {
                loop {
                    visits--;
                    bvh_nodes_visited++;
                    let node = tree_node(next);
                    // The TLAS: each leaf is a mesh.
                    let over_meshes = next >= tree.triangle_count;
                    let left = bvh_enter(node.left_min, node.left_max, ray, inverse);
                    let right = bvh_enter(node.right_min, node.right_max, ray, inverse);
                    let cutoff = select(leaf_cutoff, 1u, over_meshes);
                    let left_leaf = node.split - node.first < cutoff;
                    let right_leaf = node.last - node.split <= cutoff;
                    // Two children that are leaves are neighbours in leaf order: one range.
                    leaf = select(node.split + 1u, node.first, left >= 0.0 && left_leaf && !over_meshes);
                    end = select(node.split + 1u, node.last + 1u, right >= 0.0 && right_leaf && !over_meshes);
                    let to_left = left >= 0.0 && (over_meshes || !left_leaf);
                    let to_right = right >= 0.0 && (over_meshes || !right_leaf);
                    let left_first = to_left && (!to_right || left <= right);
                    let left_next = node.split | select(0u, BVH_MESH, over_meshes && left_leaf);
                    let right_next = (node.split + 1u) | select(0u, BVH_MESH, over_meshes && right_leaf);
                    if to_left && to_right {
                        if depth < STACK_SIZE {
                            stack[depth] = select(left_next, right_next, left_first);
                            depth++;
                        } else {
                            leaf = select(node.first, node.split + 1u, left_first);
                            end = select(node.split, node.last, left_first) + 1u;
                        }
                    }
                    next = select(right_next, left_next, left_first);
                    if !(to_left || to_right) {
                        next = BVH_MISS;
                        if depth > 0u {
                            depth--;
                            next = stack[depth];
                        }
                    }
                    if leaf != end || !bvh_is_node(next) || visits == 0u {
                        break;
                    }
                }
            }
            // The triangles that were found.
            if leaf != end {
                loop {
                    bvh_triangles_visited++;
                    let triangle = tree_triangle(leaf);
                    leaf++;
                    var done = leaf == end;
                    if bvh_triangle(triangle, ray, &candidate) {
                        candidate.leaf = leaf - 1u;
                        if (triangle.mesh & ANY_HIT_TEST) != 0u {
                            done = true;
                        } else {
                            hit = candidate;
                            hit.first = first;
                            ray.t_max = hit.t;
                            candidate.leaf = BVH_MISS;
                            done = done || any;
                        }
                    }
                    if done {
                        break;
                    }
                }
            }
            let is_done = (any && hit.leaf != BVH_MISS) || (leaf == end && next == BVH_MISS) || visits == 0u;
            if candidate.leaf != BVH_MISS || is_done {
                break;
            }
        }
        if candidate.leaf == BVH_MISS {
            break;
        }
        if bvh_accepts(tree_triangle(candidate.leaf), candidate.barycentric) {
            hit = candidate;
            hit.first = first;
            ray.t_max = hit.t;
            if any {
                break;
            }
        }
        if visits == 0u {
            break;
        }
    }
    return hit;
}

// As `bvh_traverse`, with the names of the mesh and of the triangle within it.
fn bvh_trace(ray: Ray, leaf_cutoff: u32, any: bool) -> Hit {
    let hit = bvh_traverse(ray, leaf_cutoff, any);
    if hit.leaf == BVH_MISS {
        return Hit(hit.t, hit.barycentric, BVH_MISS, 0u);
    }
    let row = TRIANGLE_ROWS * hit.leaf;
    let mesh = tree_triangle_rows(row + 2u).w & ~ANY_HIT_TEST;
    return Hit(hit.t, hit.barycentric, mesh, tree_triangle_rows(row).w - hit.first);
}

// The nearest hit.
fn bvh_closest_hit(ray: Ray, leaf_cutoff: u32) -> Hit {
    return bvh_trace(ray, leaf_cutoff, false);
}

// Whether anything is hit.
fn bvh_any_hit(ray: Ray, leaf_cutoff: u32) -> bool {
    return bvh_traverse(ray, leaf_cutoff, true).leaf != BVH_MISS;
}
