// Traversal that finds all triangles that a ray passes through. The BVH is in bind group 1 (bvh/tree_read.wgsl).
//
// A ray that starts outside a closed surface passes through as many front as back faces. A ray that starts inside
// passes through one more back face. Rounding does not change that. Vertices are projected along the ray independently
// (Woop, Benthin and Wald 2013), and the side of a projected edge is decided exactly. A ray through an edge is treated
// as if it were displaced by an infinitesimal amount (Edelsbrunner and Mücke 1990).
#import "bvh/bvh_intersect_children.wgsl"
#import "bvh/bvh_walk.wgsl"

// Ray with the data that projects vertices along it.
struct BvhCrossingRay {
    ray: Ray,
    inverse: vec3f,
    // The two axes across the ray, then its dominant axis.
    axes: vec3u,
    shear: vec3f,
}

fn bvh_crossing_ray(ray: Ray) -> BvhCrossingRay {
    let along = abs(ray.direction);
    var last = 0u;
    if along.y > along.x {
        last = 1u;
    }
    if along.z > max(along.x, along.y) {
        last = 2u;
    }
    var axes = vec3u((last + 1u) % 3u, (last + 2u) % 3u, last);
    if ray.direction[last] < 0.0 {
        axes = axes.yxz;
    }
    let direction = ray.direction;
    let shear = vec3f(direction[axes.x], direction[axes.y], 1.0) / direction[axes.z];
    return BvhCrossingRay(ray, bvh_inverse(direction), axes, shear);
}

// Returns a vertex projected across the ray, and its distance along the ray.
fn bvh_project(corner: vec3f, ray: BvhCrossingRay) -> vec3f {
    let v = corner - ray.ray.origin;
    let along = v[ray.axes.z];
    return vec3f(v[ray.axes.x] - ray.shear.x * along, v[ray.axes.y] - ray.shear.y * along, ray.shear.z * along);
}

// Returns the rounding error of a product of two floats (Dekker 1971).
fn bvh_product_error(a: f32, b: f32, product: f32) -> f32 {
    let a_split = 4097.0 * a;
    let a_high = a_split - (a_split - a);
    let a_low = a - a_high;
    let b_split = 4097.0 * b;
    let b_high = b_split - (b_split - b);
    let b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// True if the edge from `a` to `b` runs counterclockwise around the ray, seen along the ray.
fn bvh_edge_side(a: vec3f, b: vec3f) -> bool {
    let p = a.x * b.y;
    let q = a.y * b.x;
    if p != q {
        return p > q;
    }
    let p_error = bvh_product_error(a.x, b.y, p);
    let q_error = bvh_product_error(a.y, b.x, q);
    if p_error != q_error {
        return p_error > q_error;
    }
    if a.y != b.y {
        return a.y > b.y;
    }
    return a.x < b.x;
}

// Returns the crossing of a ray with a triangle: 1 through its front, where the vertices are counterclockwise; -1
// through its back; 0 if the ray misses it.
fn bvh_crossing(triangle: LeafTriangle, ray: BvhCrossingRay) -> i32 {
    let a = bvh_project(triangle.v0, ray);
    let b = bvh_project(triangle.v1, ray);
    let c = bvh_project(triangle.v2, ray);
    let side = bvh_edge_side(a, b);
    if bvh_edge_side(b, c) != side || bvh_edge_side(c, a) != side {
        return 0;
    }
    let u = b.x * c.y - b.y * c.x;
    let v = c.x * a.y - c.y * a.x;
    let w = a.x * b.y - a.y * b.x;
    let sum = u + v + w;
    // The projected area of a thin triangle may round to 0. Then any of its points will do.
    var t = a.z;
    if sum != 0.0 {
        t = (u * a.z + v * b.z + w * c.z) / sum;
    }
    if !(t > ray.ray.t_min && t < ray.ray.t_max) {
        return 0;
    }
    return select(1, -1, side);
}

// Advances the traversal until leaves are pending (test them `while !bvh_walk_is_done(walk)`). Returns false at the
// end. `walk` comes from bvh_walk_begin.
fn bvh_crossing_advance(walk: ptr<function, BvhWalk>, ray: BvhCrossingRay) -> bool {
    for (var number = bvh_walk_node(walk, 1.0); number != BVH_MISS; number = bvh_walk_node(walk, 1.0)) {
        let node = tree_node(number);
        bvh_walk_into_all(walk, number, node, bvh_intersect_children(node, ray.ray, ray.inverse) >= vec4f(0.0));
    }
    return !bvh_walk_is_done(walk);
}

// Returns the leaf of the next triangle that the ray passes through, or BVH_MISS. Threads with a result wait for the
// next result of their neighbours.
fn bvh_crossing_next(walk: ptr<function, BvhWalk>, ray: BvhCrossingRay) -> u32 {
    var found = BVH_MISS;
    while found == BVH_MISS && bvh_crossing_advance(walk, ray) {
        while found == BVH_MISS && !bvh_walk_is_done(walk) {
            let leaf = bvh_walk_leaf(walk);
            found = select(BVH_MISS, leaf, bvh_crossing(tree_triangle(leaf), ray) != 0);
        }
    }
    return found;
}
