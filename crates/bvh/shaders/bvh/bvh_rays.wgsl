// Ray traversal for GPUs, of the ray nodes (bvh/ray_node.wgsl) in bind group 1. Compute shaders have workgroups
// of BVH_RAY_THREADS threads, and call `bvh_ray_begin` once. Fragment shaders import bvh/software/ray_stack.wgsl first.
// `bvh_traverse` has the contract of bvh/bvh.wgsl, whose traversal software adapters use instead
// (bvh/software/bvh_rays.wgsl).
//
// A step is short, because GPUs issue every instruction of a step for all threads of a subgroup that still descend:
// halves take no instructions to decode on RDNA, a reference says what it leads to, a missing child has an empty box,
// and children are pushed without branches. Any-hit rays visit children in no order, which takes no more steps than
// sorted children. Other rays visit them by the octant of their direction: the node stores the order, and nothing is
// sorted.
//
// The stack (bvh/ray_stack.wgsl) has room for RAY_STACK_ROOM entries, one of which marks the end, and for the three that
// a step may add to them. A node for whose children there is no room is tested as a range of leaves, or mesh by mesh in
// the TLAS.
//
// The includer defines the any-hit test `bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool`. It is called
// for triangles with ANY_HIT_TEST. There, `triangle.triangle` is the index in the merged index buffer.
#import "bvh/bvh_intersect_children.wgsl"
#import "bvh/bvh_triangle.wgsl"
#import "bvh/ray.wgsl"
#import "bvh/ray_node.wgsl"
#import "bvh/ray_stack.wgsl"
#import "bvh/tree_read.wgsl"

#array read 1 1 ray_node_rows: vec4u

// False if no triangle has ANY_HIT_TEST. Kernels without the test have a fifth to a half of the instructions.
override BVH_TESTS_HITS: bool = true;

// Number of nodes and triangles that this thread has visited.
var<private> bvh_nodes_visited: u32;
var<private> bvh_triangles_visited: u32;

// Node as a ray reads it. `x`, `y` and `z` have the words of the lower planes, then those of the upper planes.
struct RayNode {
    origin: vec3f,
    step: vec3f,
    order: u32,
    x: vec4u,
    y: vec4u,
    z: vec4u,
    children: vec4u,
}

fn ray_node(index: u32) -> RayNode {
    let row = RAY_NODE_ROWS * index;
    let grid = ray_node_rows(row);
    let origin = bitcast<vec3f>(grid.xyz);
    let a = ray_node_rows(row + 1u);
    let b = ray_node_rows(row + 2u);
    let c = ray_node_rows(row + 3u);
    if RAY_BOXES_ARE_BYTES {
        let step = bitcast<vec3f>(node_exponents(grid.w) << vec3u(23u));
        return RayNode(origin, step, b.z, vec4u(a.x, 0u, a.y, 0u), vec4u(a.z, 0u, a.w, 0u), vec4u(b.x, 0u, b.y, 0u), c);
    }
    let step = vec3f(bitcast<f32>((grid.w >> 1u) & 0x7f800000u));
    return RayNode(origin, step, grid.w, a, b, c, ray_node_rows(row + 4u));
}

// Returns the planes of the four children, in grid steps.
fn ray_planes(words: vec2u) -> vec4f {
    if RAY_BOXES_ARE_BYTES {
        return vec4f(unpack4xU8(words.x));
    }
    return vec4f(unpack2x16float(words.x), unpack2x16float(words.y));
}

// Returns the children that exist. Rays from more than 10^8 grid steps away may enter an empty box of bytes in spite of
// rounding. No ray enters one of halves.
fn ray_is_present(order: u32) -> vec4<bool> {
    if RAY_BOXES_ARE_BYTES {
        return (vec4u(order) & vec4u(0x200u, 0x400u, 0x800u, 0x1000u)) != vec4u(0u);
    }
    return vec4<bool>(true);
}

// Returns the reference that a ray visits first.
fn ray_root(leaf_cutoff: u32) -> u32 {
    if tree.mesh_count > 1u {
        return tree.triangle_count;
    }
    let root = ray_mesh_root(0u, tree.triangle_count, leaf_cutoff);
    return select(root, BVH_MISS, tree.triangle_count == 0u);
}

// Returns the end of the stack for the children of a node. The TLAS leaves some entries to the meshes, because a mesh
// whose root finds no room would be tested as a whole.
fn ray_stack_end(node: u32) -> u32 {
    return RAY_STACK_STEP * select(RAY_STACK_ROOM, RAY_TLAS_ROOM, node >= tree.triangle_count);
}

// Returns the first leaf below a node of a mesh, and the leaf after the last. Children are in leaf order. No tree has
// as many levels as the stack of bvh/bvh.wgsl has entries.
fn ray_node_leaves(node: u32) -> vec2u {
    var first = node;
    for (var level = 0u; level < STACK_SIZE && ray_is_node(first); level++) {
        first = ray_node_rows(ray_children_row(first)).x;
    }
    var last = node;
    for (var level = 0u; level < STACK_SIZE && ray_is_node(last); level++) {
        last = ray_node_rows(ray_children_row(last)).w;
    }
    return vec2u(ray_leaf_range(first).x, ray_leaf_range(last).y);
}

// Returns the nearest hit, or with `any` the first that is found. Ray nodes have a leaf cutoff of their own, so
// `cutoff` only decides whether a mesh has a node. A ray without `any` may call `bvh_accepts` twice for a triangle, if
// the TLAS outgrows the stack.
fn bvh_traverse(ray_in: Ray, cutoff: u32, any: bool) -> BvhLeafHit {
    var ray = ray_in;
    let leaf_cutoff = min(max(tree.leaf_cutoff, cutoff), RAY_LEAVES_MAX);
    let inverse = bvh_inverse(ray.direction);
    let across = bvh_projection(ray.direction);
    let forward = inverse >= vec3f(0.0);
    // A bit for each word of `order_axis` (bvh/build/ray_nodes.wgsl): 1 if the second of two children comes first.
    let signs = select(vec3u(8u, 16u, 32u), vec3u(1u, 2u, 4u), inverse < vec3f(0.0));
    let reversed = signs.x | signs.y | signs.z;
    var hit = BvhLeafHit(ray.t_max, vec2f(0.0), BVH_MISS);
    // Pending work, in this order: the leaves leaf..end, the reference `next`, the stack, and a range of meshes, which
    // are leaves of the TLAS.
    var leaf = 0u;
    var end = 0u;
    var next = ray_root(leaf_cutoff);
    let bottom = ray_stack_bottom;
    var top = bottom + RAY_STACK_STEP;
    var meshes = vec2u(0u);
    ray_stack[bottom] = BVH_MISS;
    // Each node comes up at most twice. A valid tree never reaches this bound, which keeps traversal of a broken tree
    // from hanging.
    var visits = 2u * (tree.triangle_count + tree.mesh_count);
    loop {
        var candidate = BvhLeafHit(ray.t_max, vec2f(0.0), BVH_MISS);
        loop {
            if leaf == end {
                while ray_is_node(next) && top < ray_stack_end(next) && visits != 0u {
                    visits--;
                    bvh_nodes_visited++;
                    let node = ray_node(next);
                    let children = node.children;
                    // The slab test of `bvh_intersect_children`.
                    let step = node.step * inverse;
                    let start = (node.origin - ray.origin) * inverse;
                    let near_x = ray_planes(select(node.x.zw, node.x.xy, forward.x)) * step.x + start.x;
                    let near_y = ray_planes(select(node.y.zw, node.y.xy, forward.y)) * step.y + start.y;
                    let near_z = ray_planes(select(node.z.zw, node.z.xy, forward.z)) * step.z + start.z;
                    let far_x = ray_planes(select(node.x.xy, node.x.zw, forward.x)) * step.x + start.x;
                    let far_y = ray_planes(select(node.y.xy, node.y.zw, forward.y)) * step.y + start.y;
                    let far_z = ray_planes(select(node.z.xy, node.z.zw, forward.z)) * step.z + start.z;
                    let enter = max(max(near_x, near_y), max(near_z, vec4f(ray.t_min)));
                    let leave = min(min(far_x, far_y), far_z) * BVH_MARGIN;
                    let is_hit = (enter <= min(leave, vec4f(ray.t_max))) & ray_is_present(node.order);
                    if any {
                        ray_stack[top] = children.x;
                        top += select(0u, RAY_STACK_STEP, is_hit.x);
                        ray_stack[top] = children.y;
                        top += select(0u, RAY_STACK_STEP, is_hit.y);
                        ray_stack[top] = children.z;
                        top += select(0u, RAY_STACK_STEP, is_hit.z);
                        top -= select(RAY_STACK_STEP, 0u, is_hit.w);
                        next = select(ray_stack[top], children.w, is_hit.w);
                    } else {
                        var ordered = select(vec4u(BVH_MISS), children, is_hit);
                        let order = node.order;
                        ordered = select(ordered, ordered.yxzw, ((reversed >> (order & 7u)) & 1u) != 0u);
                        ordered = select(ordered, ordered.xywz, ((reversed >> ((order >> 3u) & 7u)) & 1u) != 0u);
                        ordered = select(ordered, ordered.zwxy, ((reversed >> ((order >> 6u) & 7u)) & 1u) != 0u);
                        ray_stack[top] = ordered.w;
                        top += select(0u, RAY_STACK_STEP, ordered.w != BVH_MISS);
                        ray_stack[top] = ordered.z;
                        top += select(0u, RAY_STACK_STEP, ordered.z != BVH_MISS);
                        ray_stack[top] = ordered.y;
                        top += select(0u, RAY_STACK_STEP, ordered.y != BVH_MISS);
                        next = ordered.x;
                        top -= select(0u, RAY_STACK_STEP, next == BVH_MISS);
                        next = select(next, ray_stack[top], next == BVH_MISS);
                    }
                }
                if next == BVH_MISS || visits == 0u {
                    if meshes.x == meshes.y || visits == 0u {
                        break;
                    }
                    // The stack is empty, so that there is room for the next mesh.
                    let row = TRIANGLE_ROWS * meshes.x;
                    let mesh = vec2u(tree_triangle_rows(row).w, tree_triangle_rows(row + 1u).w);
                    meshes.x++;
                    top = bottom + RAY_STACK_STEP;
                    next = select(ray_mesh_root(mesh.x, mesh.y, leaf_cutoff), BVH_MISS, mesh.y == 0u);
                    continue;
                }
                var leaves = ray_leaf_range(next);
                if ray_is_node(next) {
                    // There is no room on the stack.
                    leaves = vec2u(0u);
                    if next < tree.triangle_count {
                        leaves = ray_node_leaves(next);
                    } else {
                        // Visit the meshes one by one instead, without the stack. Any-hit rays visit the TLAS from its
                        // last leaf to its first, so they have left all leaves up to the last of this node. Other rays
                        // start again, which gives the same closest hit.
                        let after = ray_node_rows(ray_tlas_row(next)).x;
                        meshes = vec2u(tree.triangle_count, select(tree.triangle_count + tree.mesh_count, after, any));
                        top = bottom + RAY_STACK_STEP;
                    }
                }
                leaf = leaves.x;
                end = leaves.y;
                top -= RAY_STACK_STEP;
                next = ray_stack[top];
            }
            while leaf != end {
                bvh_triangles_visited++;
                let triangle = tree_triangle(leaf);
                leaf++;
                if bvh_triangle(triangle, ray, across, &candidate) {
                    candidate.leaf = leaf - 1u;
                    if BVH_TESTS_HITS && (triangle.mesh & ANY_HIT_TEST) != 0u {
                        break;
                    }
                    hit = candidate;
                    ray.t_max = hit.t;
                    candidate.leaf = BVH_MISS;
                    if any {
                        break;
                    }
                }
            }
            if candidate.leaf != BVH_MISS || (any && hit.leaf != BVH_MISS) {
                break;
            }
        }
        if !BVH_TESTS_HITS || candidate.leaf == BVH_MISS {
            break;
        }
        if bvh_accepts(tree_triangle(candidate.leaf), candidate.barycentric) {
            hit = candidate;
            ray.t_max = hit.t;
            if any {
                break;
            }
        }
    }
    return hit;
}
