// Edge functions by Plücker coordinates. The two triangles of an edge compute exactly opposite values for it, unless a
// GPU fuses multiplications and additions. Rows: the three corners.
#import "lab/data.wgsl"

struct LabRay {
    ray: Ray,
}

fn lab_ray(ray: Ray) -> LabRay {
    return LabRay(ray);
}

fn lab_intersect(triangle: u32, prepared: LabRay, hit: ptr<function, LabHit>) -> bool {
    let ray = prepared.ray;
    let v0 = triangles[3u * triangle].xyz;
    let v1 = triangles[3u * triangle + 1u].xyz;
    let v2 = triangles[3u * triangle + 2u].xyz;
    let a = v0 - ray.origin;
    let b = v1 - ray.origin;
    let c = v2 - ray.origin;
    let u = dot(cross(c + b, c - b), ray.direction);
    let v = dot(cross(a + c, a - c), ray.direction);
    let w = dot(cross(b + a, b - a), ray.direction);
    let normal = cross(v1 - v0, v2 - v0);
    let approach = dot(normal, ray.direction);
    let sum = u + v + w;
    let inside = min(u, min(v, w)) >= 0.0 || max(u, max(v, w)) <= 0.0;
    if !(inside && sum != 0.0 && approach != 0.0) {
        return false;
    }
    let t = dot(normal, a) / approach;
    if t <= ray.t_min || t >= (*hit).t {
        return false;
    }
    *hit = LabHit(t, v / sum, w / sum, triangle);
    return true;
}
