// Specular antialiasing (Tokuyoshi and Kaplanyan 2019, "Improved Geometric Specular Antialiasing", section 4). The α²
// of a lobe grows by the variance of the normals in a pixel.
#import "math/basis.wgsl"
#import "frame/frame.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "frame/scene.wgsl"

// Twice the variance of the pixel filter, 1 / (2π) square pixels, and the greatest growth of α².
const GLINT_FILTER = 0.3183099;
const GLINT_MAX = 0.18;

// Returns the growth of α² at a point of a triangle, seen from the eye. `id` is the triangle's id in the G-buffer. The
// vertex normals give the derivative of the normal along the triangle.
fn glint_growth(id: u32, position: vec3f) -> f32 {
    if !gbuffer_is_triangle(id) {
        return 0.0;
    }
    let triangle = gbuffer_triangle(id);
    let i = vec3u(indices(3u * triangle), indices(3u * triangle + 1u), indices(3u * triangle + 2u));
    let v0 = scene_position(i.x);
    let u = scene_position(i.y) - v0;
    let v = scene_position(i.z) - v0;
    let across = cross(u, v);
    let area2 = dot(across, across);
    let n0 = scene_normal(i.x);
    let nu = scene_normal(i.y) - n0;
    let nv = scene_normal(i.z) - n0;
    let direction = -frame_to_eye(position);
    let facing = dot(across, direction);
    let basis = basis_about(direction);
    let width = frame_pixel_width(position);
    var sum = 0.0;
    for (var axis = 0u; axis < 2u; axis++) {
        let side = select(basis.bitangent, basis.tangent, axis == 0u);
        // Step on the triangle's plane that projects to one pixel.
        let step = width * (side - direction * (dot(across, side) / facing));
        let turn = (nu * dot(cross(step, v), across) + nv * dot(cross(u, step), across)) / area2;
        sum += dot(turn, turn);
    }
    let is_off = (frame.materials_without & MATERIALS_GLINT_FILTER) != 0u;
    // Slivers and triangles seen edge-on have no bound. NaN counts as 0.
    return select(0.0, min(GLINT_FILTER * sum, GLINT_MAX), sum > 0.0 && !is_off);
}

// Returns α of a lobe after the growth of α².
fn glint_alpha(alpha: f32, growth: f32) -> f32 {
    return sqrt(min(alpha * alpha + growth, 1.0));
}
