// The point of the tree's triangles that is nearest to a point. The tree is group 1 (common/tree_read.wgsl).
//
// Nodes are visited by the distance of their boxes, the nearest first, and left out where nothing in them can
// be nearer than the best so far (Roussopoulos et al. 1995, "Nearest Neighbor Queries").
#import "common/tree_read.wgsl"
#import "common/unseen.wgsl"

struct Nearest {
    position: vec3f,
    // Of the point from there; what it was looked for within, where nothing is as near.
    distance: f32,
    // Weights of the triangle's second and third vertex.
    barycentric: vec2f,
    // The mesh; BVH_MISS where nothing is as near.
    mesh: u32,
    // The triangle, numbered within its mesh.
    triangle: u32,
}

// A point of a triangle, relative to the point that is looked for.
struct BvhNear {
    offset: vec3f,
    squared: f32,
    barycentric: vec2f,
}

fn bvh_near(a: vec3f, ab: vec3f, ac: vec3f, barycentric: vec2f) -> BvhNear {
    let offset = a + barycentric.x * ab + barycentric.y * ac;
    return BvhNear(offset, dot(offset, offset), barycentric);
}

fn bvh_nearer(a: BvhNear, b: BvhNear) -> BvhNear {
    if b.squared < a.squared {
        return b;
    }
    return a;
}

// Where along an edge from `a` the origin is nearest.
fn bvh_along(a: vec3f, edge: vec3f) -> f32 {
    return saturate(-dot(a, edge) / max(dot(edge, edge), 1.0e-30));
}

// The nearest of its inside and its three edges, each by itself: triangles without an area have their edges.
fn bvh_near_triangle(triangle: LeafTriangle, point: vec3f) -> BvhNear {
    let a = triangle.v0 - point;
    let ab = triangle.v1 - triangle.v0;
    let ac = triangle.v2 - triangle.v0;
    let bc = triangle.v2 - triangle.v1;
    let along = bvh_along(triangle.v1 - point, bc);
    var best = bvh_near(a, ab, ac, vec2f(bvh_along(a, ab), 0.0));
    best = bvh_nearer(best, bvh_near(a, ab, ac, vec2f(0.0, bvh_along(a, ac))));
    best = bvh_nearer(best, bvh_near(a, ab, ac, vec2f(1.0 - along, along)));
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    // Less is no area, in units that hold the square.
    if squared > 1.0e-36 {
        var weights = vec2f(dot(cross(ac, a), normal), dot(cross(a, ab), normal)) / squared;
        // What is left of it in the plane, for needles: their weights are steep.
        let left = a + weights.x * ab + weights.y * ac;
        weights += vec2f(dot(cross(ac, left), normal), dot(cross(left, ab), normal)) / squared;
        if all(weights >= vec2f(0.0)) && weights.x + weights.y <= 1.0 {
            best = bvh_nearer(best, bvh_near(a, ab, ac, weights));
        }
    }
    return best;
}

// Squares of the distances of a node's boxes, never too large.
fn bvh_box_distances(node: Node, point: vec3f) -> vec4f {
    let step = bvh_grid_step(node);
    let start = node.origin - point;
    let slack = bvh_grid_slack(start, step);
    let low = start - slack;
    let high = -start - slack;
    let x = max(bvh_steps(node.lower.x) * step.x + low.x, high.x - bvh_steps(node.upper.x) * step.x);
    let y = max(bvh_steps(node.lower.y) * step.y + low.y, high.y - bvh_steps(node.upper.y) * step.y);
    let z = max(bvh_steps(node.lower.z) * step.z + low.z, high.z - bvh_steps(node.upper.z) * step.z);
    let dx = max(x, vec4f(0.0));
    let dy = max(y, vec4f(0.0));
    let dz = max(z, vec4f(0.0));
    return (dx * dx + dy * dy + dz * dz) * 0.999999;
}

// What is nearer than `reach`, which is not negative. Any `cutoff` gives the same distance, but for rounding.
fn bvh_nearest(point: vec3f, reach: f32, cutoff: u32) -> Nearest {
    let leaf_cutoff = max(unseen_zero(abs(point.x)) + tree.leaf_cutoff, cutoff);
    var best = BvhNear(vec3f(0.0), reach * reach, vec2f(0.0));
    var best_leaf = BVH_MISS;
    var best_first = 0u;
    // First triangle of the mesh that is being visited.
    var first = 0u;
    var next = bvh_root();
    // What is to be visited, and the square of its distance as bits.
    var stack: array<vec2u, STACK_SIZE>;
    var depth = 0u;
    var visits = tree.triangle_count + tree.mesh_count;
    loop {
        if next == BVH_MISS {
            if depth == 0u {
                break;
            }
            depth--;
            let top = stack[depth];
            if bitcast<f32>(top.y) >= best.squared {
                continue;
            }
            next = top.x;
        }
        // Ranges of leaves to be tested.
        var starts = vec4u(0u);
        var counts = vec4u(0u);
        if !bvh_is_node(next) {
            let mesh = tree_triangle(next & ~BVH_MESH);
            first = mesh.triangle;
            next = first;
            if mesh.payload <= leaf_cutoff {
                starts.x = first;
                counts.x = mesh.payload;
                next = BVH_MISS;
            }
        }
        if bvh_is_node(next) {
            visits--;
            let node = tree_node(next);
            let over_meshes = next >= tree.triangle_count;
            starts = vec4u(node.first, node.ends.xyz);
            let sizes = node.ends - starts;
            let distances = bvh_box_distances(node, point);
            let is_near = (distances < vec4f(best.squared)) & (sizes != vec4u(0u));
            let is_leaf = sizes <= vec4u(select(leaf_cutoff, 1u, over_meshes));
            let is_range = is_leaf & vec4<bool>(!over_meshes);
            counts = select(vec4u(0u), sizes, is_near & is_range);
            let numbers = bvh_children(node, over_meshes, is_leaf);
            // In the order of distances, whose lowest bits are the child's number.
            let keys = select(
                vec4u(BVH_MISS),
                (bitcast<vec4u>(distances) & vec4u(0x7ffffffcu)) | vec4u(0u, 1u, 2u, 3u),
                is_near & !is_range,
            );
            let low = min(keys.xz, keys.yw);
            let high = max(keys.xz, keys.yw);
            let inner = vec2u(max(low.x, low.y), min(high.x, high.y));
            var order =
                vec4u(max(high.x, high.y), max(inner.x, inner.y), min(inner.x, inner.y), min(low.x, low.y));
            next = BVH_MISS;
            if depth + 3u > STACK_SIZE {
                // No room: all of it as one range.
                starts = vec4u(node.first, 0u, 0u, 0u);
                counts = vec4u(node.ends.w - node.first, 0u, 0u, 0u);
                order = vec4u(BVH_MISS);
            }
            for (var i = 0u; i < 4u; i++) {
                let key = order[i];
                if key == BVH_MISS {
                    continue;
                }
                if i == 3u {
                    next = numbers[key & 3u];
                } else {
                    stack[depth] = vec2u(numbers[key & 3u], key & ~3u);
                    depth++;
                }
            }
        }
        for (var i = 0u; i < 4u; i++) {
            let end = starts[i] + counts[i];
            for (var leaf = starts[i]; leaf < end; leaf++) {
                let near = bvh_near_triangle(tree_triangle(leaf), point);
                if near.squared < best.squared {
                    best = near;
                    best_leaf = leaf;
                    best_first = first;
                }
            }
        }
        if visits == 0u {
            break;
        }
    }
    if best_leaf == BVH_MISS {
        return Nearest(point, reach, vec2f(0.0), BVH_MISS, 0u);
    }
    let triangle = tree_triangle(best_leaf);
    return Nearest(
        point + best.offset,
        sqrt(best.squared),
        best.barycentric,
        triangle.mesh & ~ANY_HIT_TEST,
        triangle.triangle - best_first,
    );
}
