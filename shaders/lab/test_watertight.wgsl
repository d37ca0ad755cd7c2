// Woop, Benthin and Wald 2013, "Watertight Ray/Triangle Intersection". Corners are projected along the ray,
// independently of each other, and edge functions are evaluated in the projection. If a difference of products is 0,
// the rounding errors of the products decide (Dekker 1971), because WGSL has no doubles. Rows: the three corners.
#import "lab/data.wgsl"

struct LabRay {
    ray: Ray,
    // The two axes across the ray, then its dominant axis.
    axes: vec3u,
    shear: vec3f,
}

fn lab_ray(ray: Ray) -> LabRay {
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
    return LabRay(ray, axes, shear);
}

// Projects a corner: two coordinates across the ray, and the distance along it.
fn lab_project(corner: vec3f, ray: LabRay) -> vec3f {
    let v = corner - ray.ray.origin;
    let along = v[ray.axes.z];
    let across = vec2f(v[ray.axes.x], v[ray.axes.y]) - ray.shear.xy * along;
    return vec3f(across, ray.shear.z * along);
}

// Returns the rounding error of a product of two floats.
fn lab_lost(a: f32, b: f32, product: f32) -> f32 {
    let a_split = 4097.0 * a;
    let a_high = a_split - (a_split - a);
    let a_low = a - a_high;
    let b_split = 4097.0 * b;
    let b_high = b_split - (b_split - b);
    let b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

// Returns the edge function: twice the signed area, in the projection, of the triangle between the ray and an edge.
fn lab_edge(a: vec3f, b: vec3f) -> f32 {
    let p = a.x * b.y;
    let q = a.y * b.x;
    var edge = p - q;
    if p == q {
        edge = lab_lost(a.x, b.y, p) - lab_lost(a.y, b.x, q);
    }
    return edge;
}

fn lab_intersect(triangle: u32, prepared: LabRay, hit: ptr<function, LabHit>) -> bool {
    let a = lab_project(triangles[3u * triangle].xyz, prepared);
    let b = lab_project(triangles[3u * triangle + 1u].xyz, prepared);
    let c = lab_project(triangles[3u * triangle + 2u].xyz, prepared);
    let u = lab_edge(b, c);
    let v = lab_edge(c, a);
    let w = lab_edge(a, b);
    let sum = u + v + w;
    let inside = min(u, min(v, w)) >= 0.0 || max(u, max(v, w)) <= 0.0;
    if !inside || sum == 0.0 {
        return false;
    }
    let t = (u * a.z + v * b.z + w * c.z) / sum;
    if t <= prepared.ray.t_min || t >= (*hit).t {
        return false;
    }
    *hit = LabHit(t, v / sum, w / sum, triangle);
    return true;
}
