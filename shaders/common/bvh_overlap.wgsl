// The triangles of the tree that a box touches, one after the other. The tree is group 1
// (common/tree_read.wgsl).
//
// A query is begun, and then asked for the next triangle until there is none:
//     var query = bvh_overlap_begin(lower, upper, leaf_cutoff);
//     for (var leaf = bvh_overlap_next(&query); leaf != BVH_MISS; leaf = bvh_overlap_next(&query)) { … }
// Triangles are tested themselves, not their boxes alone: by the axes of Akenine-Möller 2001, "Fast 3D
// Triangle-Box Overlap Testing". Touching counts. A box whose lower corner is above its upper one touches
// nothing.
#import "common/tree_read.wgsl"
#import "common/unseen.wgsl"

struct BvhOverlap {
    lower: vec3f,
    upper: vec3f,
    leaf_cutoff: u32,
    // First triangle of the mesh that is being visited.
    first: u32,
    // Leaves that are to be tested.
    leaf: u32,
    end: u32,
    visits: u32,
    depth: u32,
    // What is to be visited: a node or a mesh; or a range of leaves, whose length is the second word. All
    // four children are there before one is taken: an entry more than rays need.
    stack: array<vec2u, STACK_SIZE + 1u>,
}

fn bvh_overlap_begin(lower: vec3f, upper: vec3f, cutoff: u32) -> BvhOverlap {
    var query: BvhOverlap;
    query.lower = lower;
    query.upper = upper;
    query.leaf_cutoff = max(unseen_zero(abs(lower.x)) + tree.leaf_cutoff, cutoff);
    query.visits = tree.triangle_count + tree.mesh_count;
    let root = bvh_root();
    if all(lower <= upper) && root != BVH_MISS {
        query.stack[0] = vec2u(root, 0u);
        query.depth = 1u;
    }
    return query;
}

// Whether an axis has all of a triangle's corners, relative to the box's centre, on one side of the box.
fn bvh_separates(axis: vec3f, a: vec3f, b: vec3f, c: vec3f, half_extent: vec3f) -> bool {
    let corners = vec3f(dot(axis, a), dot(axis, b), dot(axis, c));
    let reach = dot(abs(axis), half_extent);
    return min(corners.x, min(corners.y, corners.z)) > reach
        || max(corners.x, max(corners.y, corners.z)) < -reach;
}

fn bvh_box_touches(triangle: LeafTriangle, lower: vec3f, upper: vec3f) -> bool {
    let low = min(triangle.v0, min(triangle.v1, triangle.v2));
    let high = max(triangle.v0, max(triangle.v1, triangle.v2));
    // Without rounding; false for what is no number. Triangles that no tree can hold lie at BOX_FAR.
    if !(all(low <= upper) && all(high >= lower)) || high.x >= BOX_FAR {
        return false;
    }
    // Of the box, only what the triangle's own box leaves: so rounding is that of the smaller one.
    let least = max(lower, low);
    let most = min(upper, high);
    let centre = 0.5 * least + 0.5 * most;
    let half_extent = 0.5 * most - 0.5 * least;
    let a = triangle.v0 - centre;
    let b = triangle.v1 - centre;
    let c = triangle.v2 - centre;
    let normal = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    var is_apart = bvh_separates(normal, a, b, c, half_extent);
    for (var i = 0u; i < 3u; i++) {
        var edge = b - a;
        if i == 1u {
            edge = c - b;
        }
        if i == 2u {
            edge = a - c;
        }
        is_apart = is_apart || bvh_separates(vec3f(0.0, -edge.z, edge.y), a, b, c, half_extent)
            || bvh_separates(vec3f(edge.z, 0.0, -edge.x), a, b, c, half_extent)
            || bvh_separates(vec3f(-edge.y, edge.x, 0.0), a, b, c, half_extent);
    }
    return !is_apart;
}

// Which boxes of a node the query's box touches, or nearly.
fn bvh_boxes_touch(node: Node, lower: vec3f, upper: vec3f) -> vec4<bool> {
    let step = bvh_grid_step(node);
    let slack = bvh_grid_slack(node.origin, step);
    let low = node.origin - slack - upper;
    let high = lower - node.origin - slack;
    let x = max(bvh_steps(node.lower.x) * step.x + low.x, high.x - bvh_steps(node.upper.x) * step.x);
    let y = max(bvh_steps(node.lower.y) * step.y + low.y, high.y - bvh_steps(node.upper.y) * step.y);
    let z = max(bvh_steps(node.lower.z) * step.z + low.z, high.z - bvh_steps(node.upper.z) * step.z);
    return max(x, max(y, z)) <= vec4f(0.0);
}

// The leaf index of the next triangle, or BVH_MISS.
fn bvh_overlap_next(query: ptr<function, BvhOverlap>) -> u32 {
    loop {
        while (*query).leaf < (*query).end {
            let leaf = (*query).leaf;
            (*query).leaf++;
            if bvh_box_touches(tree_triangle(leaf), (*query).lower, (*query).upper) {
                return leaf;
            }
        }
        if (*query).depth == 0u || (*query).visits == 0u {
            break;
        }
        (*query).depth--;
        let top = (*query).stack[(*query).depth];
        var next = top.x;
        (*query).leaf = next;
        (*query).end = next + top.y;
        if top.y > 0u {
            next = BVH_MISS;
        } else if !bvh_is_node(next) {
            let mesh = tree_triangle(next & ~BVH_MESH);
            (*query).first = mesh.triangle;
            next = mesh.triangle;
            if mesh.payload <= (*query).leaf_cutoff {
                (*query).leaf = next;
                (*query).end = next + mesh.payload;
                next = BVH_MISS;
            }
        }
        if bvh_is_node(next) {
            (*query).visits--;
            let node = tree_node(next);
            let over_meshes = next >= tree.triangle_count;
            let starts = vec4u(node.first, node.ends.xyz);
            let counts = node.ends - starts;
            let touches = bvh_boxes_touch(node, (*query).lower, (*query).upper) & (counts != vec4u(0u));
            let is_leaf = counts <= vec4u(select((*query).leaf_cutoff, 1u, over_meshes));
            let numbers = bvh_children(node, over_meshes, is_leaf);
            (*query).end = (*query).leaf;
            if (*query).depth + 4u > STACK_SIZE + 1u {
                // No room: all of it as one range.
                (*query).leaf = node.first;
                (*query).end = node.ends.w;
            } else {
                for (var i = 0u; i < 4u; i++) {
                    if touches[i] {
                        let is_range = is_leaf[i] && !over_meshes;
                        let range = vec2u(starts[i], counts[i]);
                        (*query).stack[(*query).depth] = select(vec2u(numbers[i], 0u), range, is_range);
                        (*query).depth++;
                    }
                }
            }
        }
    }
    return BVH_MISS;
}

// The mesh of a triangle that the query has found last, and the triangle's number within it.
fn bvh_overlap_name(query: ptr<function, BvhOverlap>, leaf: u32) -> vec2u {
    let triangle = tree_triangle(leaf);
    return vec2u(triangle.mesh & ~ANY_HIT_TEST, triangle.triangle - (*query).first);
}
