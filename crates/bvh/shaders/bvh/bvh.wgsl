// Ray traversal of the BVH in bind group 1 (bvh/tree_read.wgsl).
//
// The TLAS and the trees below it are traversed as one tree with one stack. Each leaf of the TLAS is a mesh, which is
// the root of a tree over triangles. Three phases alternate (Aila and Laine 2009, "while-while"): enter the next mesh,
// descend nodes to triangles, test those triangles. Children of a node with at most `leaf_cutoff` triangles are tested
// as one or two leaf ranges. Among the children with more triangles that the ray enters, the nearest is visited next.
// The others are pushed, farthest first.
//
// A level pushes at most three entries. A TLAS over n meshes, with n above the stack size, has at most 16 + log2(n) / 2
// levels as a radix tree, and PLOC_DEPTH / 2 as a PLOC tree. So its entries never exceed the stack. Traversal stays
// correct for a tree that outgrows the stack, because a node for whose children there is no room is tested as a leaf
// range.
//
// Each test appears once in the source. llvmpipe executes every instruction of a loop body in every iteration, and GPUs
// reserve registers for all of it. For the same reason the any-hit test is called outside those loops, and each loop
// exits at its end.
//
// The includer defines the any-hit test `bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool`. It is called
// for triangles with ANY_HIT_TEST. There, `triangle.triangle` is the index in the merged index buffer.
#import "bvh/box.wgsl"
#import "bvh/bvh_intersect_children.wgsl"
#import "bvh/bvh_steps.wgsl"
#import "bvh/bvh_triangle.wgsl"
#import "bvh/ray.wgsl"
#import "bvh/tree_read.wgsl"

// Number of nodes (including TLAS nodes) and triangles that this thread has visited.
var<private> bvh_nodes_visited: u32;
var<private> bvh_triangles_visited: u32;
// First triangle of the mesh that the last ray has hit.
var<private> bvh_hit_first: u32;

// Returns the nearest hit, or with `any` the first that is found. The leaf of a miss is BVH_MISS.
fn bvh_traverse(ray_in: Ray, cutoff: u32, any: bool) -> BvhLeafHit {
    var ray = ray_in;
    bvh_step_ray(ray);
    let leaf_cutoff = max(tree.leaf_cutoff, cutoff);
    let inverse = bvh_inverse(ray.direction);
    let across = bvh_projection(ray.direction);
    var hit = BvhLeafHit(ray.t_max, vec2f(0.0), BVH_MISS);
    // First triangle of the current mesh.
    var first = 0u;
    // Pending work, in this order: the leaves leaf..end, the leaves later_leaf..later_end, then `next`.
    var leaf = 0u;
    var end = 0u;
    var later_leaf = 0u;
    var later_end = 0u;
    var next = bvh_root();
    var stack: array<u32, STACK_SIZE>;
    var depth = 0u;
    // Each node comes up at most once. A valid tree never reaches this bound, which keeps traversal of a broken tree
    // from hanging.
    var visits = tree.triangle_count + tree.mesh_count;
    loop {
        var candidate = BvhLeafHit(ray.t_max, vec2f(0.0), BVH_MISS);
        loop {
            // Enter the next mesh.
            if leaf == end && !bvh_is_node(next) && next != BVH_MISS {
                let mesh = tree_triangle(next & ~BVH_MESH);
                first = mesh.triangle;
                next = first;
                if mesh.payload <= leaf_cutoff {
                    leaf = first;
                    end = leaf + mesh.payload;
                    later_leaf = later_end;
                    next = BVH_MISS;
                    if depth > 0u {
                        depth--;
                        next = stack[depth];
                    }
                }
            }
            // Descend to triangles.
            if leaf == end && bvh_is_node(next) {
                loop {
                    visits--;
                    bvh_nodes_visited++;
                    let node = tree_node(next);
                    // In the TLAS, each leaf is a mesh.
                    let over_meshes = next >= tree.triangle_count;
                    let starts = vec4u(node.first, node.ends.xyz);
                    let counts = node.ends - starts;
                    let enter = bvh_intersect_children(node, ray, inverse);
                    bvh_step_node(next, node, enter, ray.t_max);
                    let is_hit = (enter >= vec4f(0.0)) & (counts != vec4u(0u));
                    let is_leaf = counts <= vec4u(select(leaf_cutoff, 1u, over_meshes));
                    // Leaf ranges: one for the first two children, and one for the last two.
                    let tested = is_hit & is_leaf & vec4<bool>(!over_meshes);
                    leaf = select(starts.y, starts.x, tested.x);
                    end = select(starts.y, starts.z, tested.y);
                    later_leaf = select(starts.w, starts.z, tested.z);
                    later_end = select(starts.w, node.ends.w, tested.w);
                    if leaf == end {
                        leaf = later_leaf;
                        end = later_end;
                    }
                    if end == later_leaf || leaf == later_leaf {
                        end = later_end;
                        later_leaf = later_end;
                    }
                    // Sort the other children by distance. The bits of non-negative floats sort like integers, and
                    // their lowest bits hold the child's index.
                    let visited = is_hit & !(is_leaf & vec4<bool>(!over_meshes));
                    let distances = bitcast<vec4u>(enter) & vec4u(0x7ffffffcu);
                    let keys = select(vec4u(BVH_MISS), distances | vec4u(0u, 1u, 2u, 3u), visited);
                    let low = min(keys.xz, keys.yw);
                    let high = max(keys.xz, keys.yw);
                    let inner = vec2u(max(low.x, low.y), min(high.x, high.y));
                    let later = vec3u(min(inner.x, inner.y), max(inner.x, inner.y), max(high.x, high.y));
                    let numbers = bvh_children(node, over_meshes, is_leaf);
                    next = bvh_child(numbers, min(low.x, low.y));
                    let counted = select(vec3u(0u), vec3u(1u), later != vec3u(BVH_MISS));
                    let room = depth + counted.x + counted.y + counted.z;
                    if room > STACK_SIZE {
                        leaf = node.first;
                        end = node.ends.w;
                        later_leaf = later_end;
                        next = BVH_MISS;
                    } else {
                        // Push the farthest first.
                        if later.x != BVH_MISS {
                            stack[room - 1u] = bvh_child(numbers, later.x);
                        }
                        if later.y != BVH_MISS {
                            stack[room - 2u] = bvh_child(numbers, later.y);
                        }
                        if later.z != BVH_MISS {
                            stack[room - 3u] = bvh_child(numbers, later.z);
                        }
                        depth = room;
                    }
                    if next == BVH_MISS && depth > 0u {
                        depth--;
                        next = stack[depth];
                    }
                    if leaf != end || !bvh_is_node(next) || visits == 0u {
                        break;
                    }
                }
            }
            // Test the pending triangles.
            if leaf != end {
                loop {
                    bvh_triangles_visited++;
                    let tested = leaf;
                    let triangle = tree_triangle(tested);
                    leaf++;
                    if leaf == end {
                        leaf = later_leaf;
                        end = later_end;
                        later_leaf = later_end;
                    }
                    var done = leaf == end;
                    let is_hit = bvh_triangle(triangle, ray, across, &candidate);
                    bvh_step_triangle(tested, triangle, is_hit, candidate.t, ray.t_max);
                    if is_hit {
                        candidate.leaf = tested;
                        if (triangle.mesh & ANY_HIT_TEST) != 0u {
                            done = true;
                        } else {
                            hit = candidate;
                            bvh_hit_first = first;
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
        let is_accepted = bvh_accepts(tree_triangle(candidate.leaf), candidate.barycentric);
        bvh_step_answer(is_accepted);
        if is_accepted {
            hit = candidate;
            bvh_hit_first = first;
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

// Traverses like `bvh_traverse`, and looks up the mesh and the triangle's index within it.
fn bvh_trace(ray: Ray, leaf_cutoff: u32, any: bool) -> Hit {
    let hit = bvh_traverse(ray, leaf_cutoff, any);
    if hit.leaf == BVH_MISS {
        return Hit(hit.t, hit.barycentric, BVH_MISS, 0u);
    }
    let row = TRIANGLE_ROWS * hit.leaf;
    let mesh = tree_triangle_rows(row + 2u).w & ~ANY_HIT_TEST;
    return Hit(hit.t, hit.barycentric, mesh, tree_triangle_rows(row).w - bvh_hit_first);
}

// Returns the nearest hit.
fn bvh_closest_hit(ray: Ray, leaf_cutoff: u32) -> Hit {
    return bvh_trace(ray, leaf_cutoff, false);
}

// True if anything is hit.
fn bvh_any_hit(ray: Ray, leaf_cutoff: u32) -> bool {
    return bvh_traverse(ray, leaf_cutoff, true).leaf != BVH_MISS;
}
