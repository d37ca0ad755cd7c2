// Intersection of a ray with a triangle.
#import "bvh/ray.wgsl"
#import "bvh/tree.wgsl"

// Hit during traversal. Mesh and triangle indices are looked up once, at the end.
struct BvhLeafHit {
    t: f32,
    barycentric: vec2f,
    leaf: u32,
}

// Two axes across a ray. Points are projected along the ray onto their plane. The dominant axis of the ray is sheared
// away.
struct BvhProjection {
    x: vec3f,
    y: vec3f,
}

fn bvh_projection(direction: vec3f) -> BvhProjection {
    let along = abs(direction);
    let is_z = along.z >= max(along.x, along.y);
    let is_y = !is_z && along.y >= along.x;
    let slope = direction / select(select(direction.x, direction.y, is_y), direction.z, is_z);
    let without_y = BvhProjection(vec3f(1.0, -slope.x, 0.0), vec3f(0.0, -slope.z, 1.0));
    let without_z = BvhProjection(vec3f(1.0, 0.0, -slope.x), vec3f(0.0, 1.0, -slope.y));
    return BvhProjection(
        select(select(vec3f(-slope.y, 1.0, 0.0), without_y.x, is_y), without_z.x, is_z),
        select(select(vec3f(-slope.z, 0.0, 1.0), without_y.y, is_y), without_z.y, is_z),
    );
}

// Intersects a ray with both sides of a triangle. Returns true and sets `t` and `barycentric` of `hit` for a hit
// between t_min and t_max. Vertices are projected along the ray independently, and edges are tested across it (Woop,
// Benthin and Wald 2013). The side of an edge follows from comparing two products. Rounding never reverses their order,
// and both triangles of an edge get the same result, so no ray slips between them. The sign of the products' difference
// would not be watertight, because GPUs fuse one product with the subtraction.
fn bvh_triangle(triangle: LeafTriangle, ray: Ray, across: BvhProjection, hit: ptr<function, BvhLeafHit>) -> bool {
    let a = triangle.v0 - ray.origin;
    let b = triangle.v1 - ray.origin;
    let c = triangle.v2 - ray.origin;
    let x = vec3f(dot(across.x, a), dot(across.x, b), dot(across.x, c));
    let y = vec3f(dot(across.y, a), dot(across.y, b), dot(across.y, c));
    let left = x.yzx * y.zxy;
    let right = y.yzx * x.zxy;
    let edges = left - right;
    let normal = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    let approach = dot(normal, ray.direction);
    let t = dot(normal, a) / approach;
    let sum = edges.x + edges.y + edges.z;
    let inside = all(left >= right) || all(left <= right);
    if !(inside && sum != 0.0 && approach != 0.0 && t > ray.t_min && t < ray.t_max) {
        return false;
    }
    (*hit).t = t;
    (*hit).barycentric = edges.yz / sum;
    return true;
}
