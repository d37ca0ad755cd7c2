// Where shadow rays leave a surface, and which of them are sent.
#import "common/frame.wgsl"
#import "common/light.wgsl"
#import "common/scene.wgsl"

struct ShadowStart {
    // On the surface.
    position: vec3f,
    // A step away from it, where rays begin.
    origin: vec3f,
    // Of the triangle, on the side of the eye.
    geometric_normal: vec3f,
}

// The start of rays from a point of a triangle. Interpolation has rounded the point, so it is put back into its triangle's plane. From there
// the step follows the plane's normal, far enough that rounding cannot bring a ray back through the surface, and no further: every rounding on
// the way is in proportion to the coordinates of the point and of the triangle's corners, and the step is 8 ulp of the largest of them.
fn shadow_ray_start(triangle: u32, position: vec3f) -> ShadowStart {
    let v0 = scene_position(indices[3u * triangle]);
    let v1 = scene_position(indices[3u * triangle + 1u]);
    let v2 = scene_position(indices[3u * triangle + 2u]);
    let to_eye = frame_to_eye(position);
    let cross_product = cross(v1 - v0, v2 - v0);
    let largest = max(abs(cross_product.x), max(abs(cross_product.y), abs(cross_product.z)));
    var normal = to_eye;
    var in_plane = position;
    if largest > 0.0 {
        normal = normalize(cross_product / largest);
        in_plane = position - dot(position - v0, normal) * normal;
        normal = select(-normal, normal, dot(normal, to_eye) >= 0.0);
    }
    let size = max(abs(position), max(abs(v0), max(abs(v1), abs(v2))));
    let step = max(size.x, max(size.y, size.z)) * 9.5367432e-7;
    return ShadowStart(in_plane, in_plane + step * normal, normal);
}

// Whether a ray is sent: to a light that reaches the surface, where both the surface as shaded and its triangle face it.
fn shadow_ray_needed(start: ShadowStart, normal: vec3f, sample: LightSample) -> bool {
    return light_reaches(sample) && dot(normal, sample.to_light) > 0.0 && dot(start.geometric_normal, sample.to_light) > 0.0;
}
