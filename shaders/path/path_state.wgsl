// State of a path between two surfaces. The importer binds `params` (path/path_table.wgsl).
#import "frame/frame.wgsl"
#import "path/path_table.wgsl"
#import "bvh/ray.wgsl"
#import "math/pcg.wgsl"
#import "math/sampling.wgsl"

// Direct light sample: a shadow ray, and the light that it adds if nothing occludes it.
struct DirectSample {
    direction: vec3f,
    distance: f32,
    light: vec3f,
    // Metres of fog on its way, if the fog's noise affects it.
    in_fog: f32,
}

struct PathState {
    // Continuation ray. It starts at t_min and has no end.
    origin: vec3f,
    t_min: f32,
    direction: vec3f,
    // Density with which the direction was sampled; −1 if its light is not also sampled directly, so that no MIS weight
    // applies.
    sampled_density: f32,
    // True if the continuation ray shows a mirror image (path/path_fog.wgsl).
    is_mirror_like: bool,
    // Throughput, which is zero once the path has ended.
    throughput: vec3f,
    radiance: vec3f,
    // 1 if the eye sees a surface.
    cover: f32,
    // Start of the shadow rays (shadow/shadow_start.wgsl).
    direct_origin: vec3f,
    // Lift of the ray to a light, like in ShadowStart. `is_lifted` if the ray starts at the smooth surface, `is_below`
    // if it points below the triangle.
    lift: vec3f,
    is_lifted: bool,
    is_below: bool,
}

// Hit of a ray. `surface_id` is an id of frame/gbuffer_ids.wgsl, 0 for a miss.
struct PathHit {
    surface_id: u32,
    material: u32,
    barycentric: vec2f,
    t: f32,
}

var<private> state: PathState;
// Indexed by RAY_LIGHT, RAY_ENVIRONMENT and RAY_EMITTER, minus RAY_LIGHT.
var<private> direct_samples: array<DirectSample, PATH_DIRECT>;

// Returns the direct light sample of a shadow ray. RAY_LIFT has that of RAY_LIGHT. A dynamic index would put the array
// into scratch memory.
fn direct_sample(ray: u32) -> DirectSample {
    switch ray {
        case RAY_ENVIRONMENT: { return direct_samples[1]; }
        case RAY_EMITTER: { return direct_samples[2]; }
        default: { return direct_samples[0]; }
    }
}

// Rays of one surface, in the order in which they are traced.
const RAY_LIFT = 0u;
const RAY_LIGHT = 1u;
const RAY_ENVIRONMENT = 2u;
const RAY_EMITTER = 3u;
const RAY_ON = 4u;

// Returns two sample numbers for a dimension of a surface of the path.
fn path_point(pixel: vec2u, bounce: u32, which: u32) -> vec2f {
    return sampling_point(pixel, params.index, SAMPLE_PATHS + PATH_DIMENSIONS * bounce + which);
}

// Returns the camera ray through a random point of a pixel.
fn path_view_ray(pixel: vec2u) -> Ray {
    let u = path_point(pixel, 0u, PATH_EYE);
    let ray = view_ray(frame.rays, (vec2f(pixel) + u) / vec2f(frame.size));
    let direction = normalize(ray.direction);
    let start = params.near / max(dot(direction, frame.forward), 1.0e-6) * direction;
    return Ray(ray.origin + start, 0.0, direction, 1.0e30);
}

// Starts a path at the eye.
fn path_begin(pixel: vec2u) {
    let ray = path_view_ray(pixel);
    path_begin_along(ray.origin, ray.direction, true);
}

// Starts a path along a ray. Its light counts in full until `sampled_density` says that it is also sampled directly.
fn path_begin_along(origin: vec3f, direction: vec3f, is_mirror_like: bool) {
    state.origin = origin;
    state.t_min = 0.0;
    state.direction = direction;
    state.sampled_density = -1.0;
    state.is_mirror_like = is_mirror_like;
    state.throughput = vec3f(1.0);
    state.radiance = vec3f(0.0);
    state.cover = 0.0;
    state.is_lifted = false;
    direct_samples = array<DirectSample, PATH_DIRECT>();
}

// Returns the contribution of a path. After the first surface it is clamped if the settings say so.
fn path_contribution(light: vec3f, bounce: u32) -> vec3f {
    let most = select(1.0e30, params.clamp, params.clamp > 0.0 && bounce > 0u);
    return light * min(1.0, most / max(max(light.x, max(light.y, light.z)), 1.0e-20));
}

// Adds a direct light sample.
fn path_add_direct(ray: u32, bounce: u32) {
    state.radiance += path_contribution(direct_sample(ray).light, bounce);
}

// True if the path has a direct light sample for this ray.
fn path_has_direct(ray: u32) -> bool {
    return any(direct_sample(ray).light > vec3f(0.0));
}

// Returns the sample of a pixel. NaN and infinity are replaced by 0, because they would never leave the sums.
fn path_sampled() -> vec4f {
    let is_number = all(state.radiance >= vec3f(0.0)) && all(state.radiance < vec3f(1.0e30));
    return vec4f(select(vec3f(0.0), state.radiance, is_number), state.cover);
}
