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
    // The leaves leaf..end are to be tested, then later_leaf..later_end, then `next` is to be visited.
    leaf: u32,
    end: u32,
    later_leaf: u32,
    later_end: u32,
    next: u32,
    visits: u32,
    depth: u32,
    stack: array<u32, STACK_SIZE>,
}

fn bvh_overlap_begin(lower: vec3f, upper: vec3f, cutoff: u32) -> BvhOverlap {
    var query: BvhOverlap;
    query.lower = lower;
    query.upper = upper;
    query.leaf_cutoff = max(unseen_zero(abs(lower.x)) + tree.leaf_cutoff, cutoff);
    query.visits = tree.triangle_count + tree.mesh_count;
    query.next = select(BVH_MISS, bvh_root(), all(lower <= upper));
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
    let is_near = all(low <= upper) && all(high >= lower) && high.x < BOX_FAR;
    // Of the box, only what the triangle's own box leaves: so rounding is that of the smaller one.
    let least = max(lower, low);
    let most = min(upper, high);
    // A triangle whose box lies within the other needs no axes. A loop, because software adapters run every
    // branch.
    var is_apart = false;
    var is_open = is_near && (any(least > low) || any(most < high));
    while is_open {
        let centre = 0.5 * least + 0.5 * most;
        let half_extent = 0.5 * most - 0.5 * least;
        let a = triangle.v0 - centre;
        let b = triangle.v1 - centre;
        let c = triangle.v2 - centre;
        let normal = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
        is_apart = bvh_separates(normal, a, b, c, half_extent);
        var edge = b - a;
        for (var i = 0u; i < 3u; i++) {
            is_apart = is_apart || bvh_separates(vec3f(0.0, -edge.z, edge.y), a, b, c, half_extent)
                || bvh_separates(vec3f(edge.z, 0.0, -edge.x), a, b, c, half_extent)
                || bvh_separates(vec3f(-edge.y, edge.x, 0.0), a, b, c, half_extent);
            edge = select(a - c, c - b, i == 0u);
        }
        is_open = false;
    }
    return is_near && !is_apart;
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

// `left` with its first entry that is not BVH_MISS in front.
fn bvh_shifted(left: vec4u) -> vec4u {
    var shifted = select(left, vec4u(left.yzw, BVH_MISS), left.x == BVH_MISS);
    shifted = select(shifted, vec4u(shifted.yzw, BVH_MISS), shifted.x == BVH_MISS);
    return select(shifted, vec4u(shifted.yzw, BVH_MISS), shifted.x == BVH_MISS);
}

// The leaf index of the next triangle, or BVH_MISS.
fn bvh_overlap_next(query: ptr<function, BvhOverlap>) -> u32 {
    var found = BVH_MISS;
    loop {
        // Down to triangles.
        while (*query).leaf == (*query).end && (*query).next != BVH_MISS {
            // Into the mesh that is next. A loop, because software adapters run every branch.
            while !bvh_is_node((*query).next) && (*query).next != BVH_MISS {
                let mesh = tree_triangle((*query).next & ~BVH_MESH);
                (*query).first = mesh.triangle;
                (*query).next = mesh.triangle;
                if mesh.payload <= (*query).leaf_cutoff {
                    (*query).leaf = mesh.triangle;
                    (*query).end = mesh.triangle + mesh.payload;
                    (*query).later_leaf = (*query).later_end;
                    (*query).next = BVH_MISS;
                }
            }
            if bvh_is_node((*query).next) {
                (*query).visits--;
                let node = tree_node((*query).next);
                let over_meshes = (*query).next >= tree.triangle_count;
                let starts = vec4u(node.first, node.ends.xyz);
                let counts = node.ends - starts;
                let touches = bvh_boxes_touch(node, (*query).lower, (*query).upper) & (counts != vec4u(0u));
                let is_leaf = counts <= vec4u(select((*query).leaf_cutoff, 1u, over_meshes));
                // Children that are leaves: one range of the first two, and one of the others.
                let tested = touches & is_leaf & vec4<bool>(!over_meshes);
                var leaf = select(starts.y, starts.x, tested.x);
                var end = select(starts.y, starts.z, tested.y);
                var later_leaf = select(starts.w, starts.z, tested.z);
                let later_end = select(starts.w, node.ends.w, tested.w);
                if leaf == end {
                    leaf = later_leaf;
                    end = later_end;
                    later_leaf = later_end;
                }
                // The others, in their order: the first that is left is next.
                let numbers = bvh_children(node, over_meshes, is_leaf);
                let visited = touches & !(is_leaf & vec4<bool>(!over_meshes));
                var left = select(vec4u(BVH_MISS), numbers, visited);
                let counted = select(vec4u(0u), vec4u(1u), visited);
                var room = counted.x + counted.y + counted.z + counted.w;
                if (*query).depth + room > STACK_SIZE {
                    // All of it as one range.
                    leaf = node.first;
                    end = node.ends.w;
                    later_leaf = later_end;
                    room = 0u;
                }
                for (; room > 1u; room--) {
                    left = bvh_shifted(left);
                    (*query).stack[(*query).depth] = left.x;
                    (*query).depth++;
                    left.x = BVH_MISS;
                }
                left = bvh_shifted(left);
                (*query).next = select(BVH_MISS, left.x, room == 1u);
                (*query).leaf = leaf;
                (*query).end = end;
                (*query).later_leaf = later_leaf;
                (*query).later_end = later_end;
            }
            if (*query).next == BVH_MISS && (*query).depth > 0u && (*query).visits > 0u {
                (*query).depth--;
                (*query).next = (*query).stack[(*query).depth];
            }
        }
        if (*query).leaf == (*query).end {
            break;
        }
        // Through those triangles.
        loop {
            let leaf = (*query).leaf;
            if bvh_box_touches(tree_triangle(leaf), (*query).lower, (*query).upper) {
                found = leaf;
            }
            (*query).leaf++;
            if (*query).leaf == (*query).end {
                (*query).leaf = (*query).later_leaf;
                (*query).end = (*query).later_end;
                (*query).later_leaf = (*query).later_end;
            }
            if found != BVH_MISS || (*query).leaf == (*query).end {
                break;
            }
        }
        if found != BVH_MISS {
            break;
        }
    }
    return found;
}

// The mesh of a triangle that the query has found last, and the triangle's number within it.
fn bvh_overlap_name(query: ptr<function, BvhOverlap>, leaf: u32) -> vec2u {
    let triangle = tree_triangle(leaf);
    return vec2u(triangle.mesh & ~ANY_HIT_TEST, triangle.triangle - (*query).first);
}
