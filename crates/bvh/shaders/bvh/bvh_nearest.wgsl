// The nearest point on the BVH's triangles to a point. The BVH is in bind group 1 (bvh/tree_read.wgsl).
//
// Nodes are visited in order of the distance to their boxes, nearest first. A node is skipped if nothing in it can be
// nearer than the best result so far (Roussopoulos et al. 1995, "Nearest Neighbor Queries").
#import "bvh/bvh_walk.wgsl"

struct Nearest {
    position: vec3f,
    // Distance to the query point, or the search radius if nothing was found.
    distance: f32,
    // Barycentric weights of the triangle's second and third vertex.
    barycentric: vec2f,
    // Mesh index, or BVH_MISS if nothing was found.
    mesh: u32,
    // Index of the triangle within its mesh.
    triangle: u32,
}

// Nearest leaf so far: its squared distance, and the first triangle of its mesh. Weights are computed once, at the end.
struct BvhNearLeaf {
    squared: f32,
    leaf: u32,
    first: u32,
}

// Point on a triangle, as an offset from the query point.
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

// Returns the parameter in [0, 1] at which an edge from `a` is nearest to the origin.
fn bvh_along(a: vec3f, edge: vec3f) -> f32 {
    return saturate(-dot(a, edge) / max(dot(edge, edge), 1.0e-30));
}

// Returns the nearest of four candidates: the nearest points of the three edges and of the interior. A triangle without
// area still has its edges.
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
    // A smaller value counts as no area, because it is close to the smallest normal float.
    if squared > 1.0e-36 {
        var weights = vec2f(dot(cross(ac, a), normal), dot(cross(a, ab), normal)) / squared;
        // One refinement step on the in-plane residual, because the weights of needle-shaped triangles are
        // ill-conditioned.
        let left = a + weights.x * ab + weights.y * ac;
        weights += vec2f(dot(cross(ac, left), normal), dot(cross(left, ab), normal)) / squared;
        if all(weights >= vec2f(0.0)) && weights.x + weights.y <= 1.0 {
            best = bvh_nearer(best, bvh_near(a, ab, ac, weights));
        }
    }
    return best;
}

// Returns the squared distances to a node's child boxes, never too large.
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

// Returns the squared distance to a triangle. Slivers, whose normals are inexact, use bvh_near_triangle.
fn bvh_near_squared(triangle: LeafTriangle, point: vec3f) -> f32 {
    let a = triangle.v0 - point;
    let b = triangle.v1 - point;
    let ab = triangle.v1 - triangle.v0;
    let ac = triangle.v2 - triangle.v0;
    let bc = triangle.v2 - triangle.v1;
    let on_ab = a + bvh_along(a, ab) * ab;
    let on_ac = a + bvh_along(a, ac) * ac;
    let on_bc = b + bvh_along(b, bc) * bc;
    let edges = min(dot(on_ab, on_ab), min(dot(on_ac, on_ac), dot(on_bc, on_bc)));
    let normal = cross(ab, ac);
    let squared = dot(normal, normal);
    let height = dot(a, normal);
    let u = dot(cross(ac, a), normal);
    let v = dot(cross(a, ab), normal);
    let is_inside = min(u, v) >= 0.0 && u + v <= squared && squared > 1.0e-36;
    var nearest = select(edges, min(edges, height * height / squared), is_inside);
    let is_sliver = squared < 0.01 * dot(ab, ab) * dot(ac, ac) && squared > 1.0e-36;
    if is_sliver {
        nearest = bvh_near_triangle(triangle, point).squared;
    }
    return nearest;
}

// Returns the nearest leaf that is nearer than `start`, or `start` if there is none. If `start.leaf` is BVH_MISS,
// `start.squared` is the squared search radius.
fn bvh_nearest_leaf(point: vec3f, start: BvhNearLeaf, cutoff: u32) -> BvhNearLeaf {
    var best = start;
    var walk = bvh_walk_begin(cutoff);
    loop {
        var number = bvh_walk_node(&walk, best.squared);
        while number != BVH_MISS {
            let node = tree_node(number);
            let distances = bvh_box_distances(node, point);
            bvh_walk_into(&walk, number, node, distances, distances < vec4f(best.squared));
            number = bvh_walk_node(&walk, best.squared);
        }
        if bvh_walk_is_done(&walk) {
            break;
        }
        while !bvh_walk_is_done(&walk) {
            let leaf = bvh_walk_leaf(&walk);
            let squared = bvh_near_squared(tree_triangle(leaf), point);
            if squared < best.squared {
                best = BvhNearLeaf(squared, leaf, walk.first);
            }
        }
    }
    return best;
}

// Converts a result of `bvh_nearest_leaf` to the nearest point. If no leaf was found, the distance is `reach`.
fn bvh_nearest_point(point: vec3f, reach: f32, found: BvhNearLeaf) -> Nearest {
    if found.leaf == BVH_MISS {
        return Nearest(point, reach, vec2f(0.0), BVH_MISS, 0u);
    }
    let triangle = tree_triangle(found.leaf);
    let near = bvh_near_triangle(triangle, point);
    return Nearest(
        point + near.offset,
        sqrt(near.squared),
        near.barycentric,
        triangle.mesh & ~ANY_HIT_TEST,
        triangle.triangle - found.first,
    );
}

// Returns the nearest point within `reach`, which is not negative. Any `cutoff` gives the same distance, except for
// rounding.
fn bvh_nearest(point: vec3f, reach: f32, cutoff: u32) -> Nearest {
    let found = bvh_nearest_leaf(point, BvhNearLeaf(reach * reach, BVH_MISS, 0u), cutoff);
    return bvh_nearest_point(point, reach, found);
}
