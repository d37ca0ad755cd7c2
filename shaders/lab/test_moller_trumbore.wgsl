// Möller and Trumbore 1997, "Fast, Minimum Storage Ray/Triangle Intersection": Cramer's rule on edges from the first
// corner. Rows: the three corners. Neighbours round a shared edge differently, so rays can slip through.
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
    let edge1 = triangles[3u * triangle + 1u].xyz - v0;
    let edge2 = triangles[3u * triangle + 2u].xyz - v0;
    let p = cross(ray.direction, edge2);
    let determinant = dot(edge1, p);
    if determinant == 0.0 {
        return false;
    }
    let inverse = 1.0 / determinant;
    let offset = ray.origin - v0;
    let u = dot(offset, p) * inverse;
    let q = cross(offset, edge1);
    let v = dot(ray.direction, q) * inverse;
    let t = dot(edge2, q) * inverse;
    if u < 0.0 || v < 0.0 || u + v > 1.0 || t <= ray.t_min || t >= (*hit).t {
        return false;
    }
    *hit = LabHit(t, u, v, triangle);
    return true;
}
