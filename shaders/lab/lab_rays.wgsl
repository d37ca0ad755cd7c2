// lab_rays: generates the rays of the `lab` channel, in tiles of 8 × 8 pixels, in the order of `canopy lab`.
//
// in   the frame; for shadow rays, also the G-buffer's positions and ids, and the merged triangles
// out  rays: one per pixel of the tiles that cover the picture. A pixel without a ray has a placeholder, whose t_max
//      is not above its t_min.
// One thread per pixel. lab_rays_primary: from the eye through the pixel's centre. lab_rays_shadow: from the visible
// surface to the first light that illuminates it, or upwards if none does.
#import "frame/frame.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "light/light.wgsl"
#import "bvh/ray.wgsl"

struct LabRayParams {
    // Offset of the ray origins at the right edge from the eye. It is zero except in orthographic views.
    right: vec3f,
    // Length of the rays in metres.
    far: f32,
    // Offset of the ray origins at the upper edge from the eye.
    up: vec3f,
    // Distance of shadow ray origins from their surface.
    step: f32,
    // Number of triangles in the scene.
    triangle_count: u32,
}

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> params: LabRayParams;
@group(1) @binding(2) var position_texture: texture_2d<f32>;
@group(1) @binding(3) var ids_texture: texture_2d<u32>;
@group(1) @binding(4) var<storage, read> positions: array<f32>;
@group(1) @binding(5) var<storage, read> indices: array<u32>;
@group(1) @binding(6) var<storage, read_write> rays: array<Ray>;

fn no_ray() -> Ray {
    return Ray(vec3f(0.0), 0.0, vec3f(0.0, 0.0, 1.0), 0.0);
}

fn place(pixel: vec2u) -> u32 {
    let tile = pixel / 8u;
    let within = pixel % 8u;
    let columns = (frame.size.x + 7u) / 8u;
    return 64u * (tile.y * columns + tile.x) + 8u * within.y + within.x;
}

fn is_in_tiles(pixel: vec2u) -> bool {
    return all(pixel / 8u < (frame.size + 7u) / 8u);
}

fn corner(triangle: u32, number: u32) -> vec3f {
    let vertex = indices[3u * triangle + number];
    return vec3f(positions[3u * vertex], positions[3u * vertex + 1u], positions[3u * vertex + 2u]);
}

fn primary(pixel: vec2u) -> Ray {
    let ndc = (vec2f(pixel) + 0.5) / vec2f(frame.size) * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
    let origin = frame.eye + ndc.x * params.right + ndc.y * params.up;
    return Ray(origin, 0.0, frame_ray(pixel), params.far);
}

fn shadow(pixel: vec2u) -> Ray {
    let position = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel);
    let id = textureLoad(ids_texture, pixel, 0).r;
    let triangle = gbuffer_triangle(id);
    let is_triangle = position.w != 0.0 && !gbuffer_is_ground(position.w) && gbuffer_is_triangle(id);
    if !is_triangle || triangle >= params.triangle_count {
        return no_ray();
    }
    let a = corner(triangle, 0u);
    let area = cross(corner(triangle, 1u) - a, corner(triangle, 2u) - a);
    let size = length(area);
    if size == 0.0 {
        return no_ray();
    }
    let facing = dot(area, frame_to_eye(position.xyz));
    let normal = select(-area, area, facing >= 0.0) / size;
    var to_light = normalize(vec3f(LAB_ABOVE_X, LAB_ABOVE_Y, LAB_ABOVE_Z));
    var distance = params.far;
    for (var i = 0u; i < first_light_count(); i++) {
        let sample = light_sample(first_lights[i], position.xyz);
        if light_reaches(sample) {
            to_light = sample.to_light;
            distance = min(sample.distance, params.far);
            break;
        }
    }
    if dot(normal, to_light) <= 0.0 {
        return no_ray();
    }
    return Ray(position.xyz + params.step * normal, 0.0, to_light, distance);
}

@compute @workgroup_size(8, 8)
fn lab_rays_primary(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if !is_in_tiles(pixel) {
        return;
    }
    var ray = no_ray();
    if all(pixel < frame.size) {
        ray = primary(pixel);
    }
    rays[place(pixel)] = ray;
}

@compute @workgroup_size(8, 8)
fn lab_rays_shadow(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if !is_in_tiles(pixel) {
        return;
    }
    var ray = no_ray();
    if all(pixel < frame.size) {
        ray = shadow(pixel);
    }
    rays[place(pixel)] = ray;
}
