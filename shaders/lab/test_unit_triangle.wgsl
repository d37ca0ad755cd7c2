// Unit-triangle transform (Woop 2004; Aila and Laine 2009). An affine map takes the corners to (0, 0, 0), (1, 0, 0) and
// (0, 1, 0), and is applied to the ray. Rows: that map.
#import "lab/data.wgsl"

struct LabRay {
    ray: Ray,
}

fn lab_ray(ray: Ray) -> LabRay {
    return LabRay(ray);
}

fn lab_intersect(triangle: u32, prepared: LabRay, hit: ptr<function, LabHit>) -> bool {
    let ray = prepared.ray;
    let row_z = triangles[3u * triangle + 2u];
    let approach = dot(row_z.xyz, ray.direction);
    if approach == 0.0 {
        return false;
    }
    let t = -(dot(row_z.xyz, ray.origin) + row_z.w) / approach;
    if t <= ray.t_min || t >= (*hit).t {
        return false;
    }
    let row_x = triangles[3u * triangle];
    let row_y = triangles[3u * triangle + 1u];
    let u = dot(row_x.xyz, ray.origin) + row_x.w + t * dot(row_x.xyz, ray.direction);
    let v = dot(row_y.xyz, ray.origin) + row_y.w + t * dot(row_y.xyz, ray.direction);
    if u < 0.0 || v < 0.0 || u + v > 1.0 {
        return false;
    }
    *hit = LabHit(t, u, v, triangle);
    return true;
}
