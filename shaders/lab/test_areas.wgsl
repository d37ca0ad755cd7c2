// Textbook test by plane and areas. The three triangles between the intersection with the plane and the edges must
// together be as large as the triangle, within LAB_AREAS_SLACK. Rows: the corners, with the unit normal in their w
// components.
#import "lab/data.wgsl"

struct LabRay {
    ray: Ray,
}

fn lab_ray(ray: Ray) -> LabRay {
    return LabRay(ray);
}

fn lab_intersect(triangle: u32, prepared: LabRay, hit: ptr<function, LabHit>) -> bool {
    let ray = prepared.ray;
    let a = triangles[3u * triangle];
    let b = triangles[3u * triangle + 1u];
    let c = triangles[3u * triangle + 2u];
    let normal = vec3f(a.w, b.w, c.w);
    let approach = dot(normal, ray.direction);
    if approach == 0.0 {
        return false;
    }
    let t = dot(normal, a.xyz - ray.origin) / approach;
    if t <= ray.t_min || t >= (*hit).t {
        return false;
    }
    let point = ray.origin + t * ray.direction;
    let to_a = a.xyz - point;
    let to_b = b.xyz - point;
    let to_c = c.xyz - point;
    let whole = length(cross(b.xyz - a.xyz, c.xyz - a.xyz));
    let of_a = length(cross(to_b, to_c));
    let of_b = length(cross(to_c, to_a));
    let of_c = length(cross(to_a, to_b));
    if of_a + of_b + of_c > whole * LAB_AREAS_SLACK {
        return false;
    }
    *hit = LabHit(t, of_b / whole, of_c / whole, triangle);
    return true;
}
