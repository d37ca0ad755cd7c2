// Baldwin and Weber 2016, "Fast Ray-Triangle Intersections by Coordinate Transformation". It is the unit-triangle
// transform with a world axis as third axis, the one along which the normal is longest. One column of the map is then
// (0, 0, 1) and need not be stored. Rows: the other two columns and the offset, for u, for v and for the distance from
// the plane. The first row's w component is that axis.
#import "lab/data.wgsl"

struct LabRay {
    ray: Ray,
}

fn lab_ray(ray: Ray) -> LabRay {
    return LabRay(ray);
}

// Rotates the components so that `axis` comes last.
fn lab_turned(v: vec3f, axis: f32) -> vec3f {
    return select(select(v.yzx, v.zxy, axis == 1.0), v, axis == 2.0);
}

fn lab_intersect(triangle: u32, prepared: LabRay, hit: ptr<function, LabHit>) -> bool {
    let ray = prepared.ray;
    let row_u = triangles[3u * triangle];
    let row_v = triangles[3u * triangle + 1u];
    let row_n = triangles[3u * triangle + 2u];
    let origin = lab_turned(ray.origin, row_u.w);
    let direction = lab_turned(ray.direction, row_u.w);
    let approach = dot(row_n.xy, direction.xy) + direction.z;
    if approach == 0.0 {
        return false;
    }
    let t = -(dot(row_n.xy, origin.xy) + origin.z + row_n.z) / approach;
    if t <= ray.t_min || t >= (*hit).t {
        return false;
    }
    let point = origin.xy + t * direction.xy;
    let u = dot(row_u.xy, point) + row_u.z;
    let v = dot(row_v.xy, point) + row_v.z;
    if u < 0.0 || v < 0.0 || u + v > 1.0 {
        return false;
    }
    *hit = LabHit(t, u, v, triangle);
    return true;
}
