// Shadow rays between a surface and a light. The any-hit test evaluates alpha at the hit. Masked triangles block all
// light or none, and blended ones attenuate the light by their alpha.
#import "material/alpha.wgsl"
#import "bvh/bvh_rays.wgsl"
#import "frame/frame.wgsl"
#import "light/light.wgsl"
#import "shadow/shadow_start.wgsl"

// Alpha from which a blended surface blocks like an opaque one.
const SHADOW_OPAQUE = 0.998;

// Fraction of the light left after the blended surfaces that the ray has met so far.
var<private> ray_transmittance: f32;
// Mean distance in metres from `ray_from` to these surfaces, weighted by the light that each takes.
var<private> ray_blocker_distance: f32;
var<private> ray_from: vec3f;
// True if the path tracer follows the ray on from its hit. As in the path tracer, clear surfaces then stop a ray, and
// blended surfaces with a probability of alpha. Compilers remove the branch from kernels that never set it.
var<private> ray_starts_path: bool;
// Seed of the random numbers for blended surfaces.
var<private> ray_seed: u32;

fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    let header = ALPHA_HEADER * triangle.payload;
    let mode = tables[header + ALPHA_MODE];
    if ray_starts_path {
        return alpha_stops(header, triangle.triangle, barycentric, ray_seed);
    }
    if mode == ALPHA_CLEAR || (mode == ALPHA_BLEND && frame.blended_cast == 0u) {
        return false;
    }
    let value = alpha_value(header, triangle.triangle, barycentric);
    if tables[header + ALPHA_BLENDED] == 0u {
        return value >= bitcast<f32>(tables[header + ALPHA_CUTOFF]);
    }
    if value >= SHADOW_OPAQUE {
        return true;
    }
    let along = mat2x3f(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0) * barycentric;
    let taken = ray_transmittance * saturate(value);
    ray_blocker_distance += taken * distance(triangle.v0 + along, ray_from);
    ray_transmittance -= taken;
    // Many layers together block like an opaque surface and end the ray.
    return ray_transmittance <= 1.0 - SHADOW_OPAQUE;
}

// Returns the fraction of the light that arrives along a ray.
fn shadow_ray_share(ray: Ray) -> f32 {
    ray_transmittance = 1.0;
    let is_blocked = bvh_traverse(ray, frame.leaf_cutoff, true).leaf != BVH_MISS;
    return select(ray_transmittance, 0.0, is_blocked);
}

struct ShadowRayHit {
    // Distance to the blocker in metres, or −1 if there is none.
    t: f32,
    // Fraction of the light that is blocked, blended surfaces included, and the mean distance of the blockers in
    // metres.
    blocked: f32,
    blocker_distance: f32,
    // Leaf of the blocker; BVH_MISS without one.
    leaf: u32,
    // Barycentric coordinates of the hit.
    barycentric: vec2f,
}

// Finds an occluder within `distance` metres of a surface, along a direction above its horizon: the nearest one, or
// `any`. A grazing ray starts at the smooth surface, so that neighbouring triangles do not occlude it. The steeper the
// ray, the nearer it starts to the triangle. A first ray checks the way from the triangle to that start, so that no ray
// gets past a wall. If that way is occluded, the shadow ray starts at the triangle, or counts as occluded if it points
// below the triangle.
fn shadow_ray_hit(start: ShadowStart, direction: vec3f, distance: f32, any: bool) -> ShadowRayHit {
    let cosine = dot(start.geometric_normal, direction);
    let lift = start.lift * saturate(1.0 - cosine / max(start.grazing, 1.0e-6));
    let straight = Ray(start.origin, 0.0, direction, distance);
    var ray = straight;
    var lifts = cosine < start.grazing;
    if lifts {
        ray = Ray(start.origin, 0.0, lift, 1.0);
    }
    var hit = ShadowRayHit(-1.0, 0.0, 0.0, BVH_MISS, vec2f(0.0));
    ray_from = start.origin;
    ray_transmittance = 1.0;
    ray_blocker_distance = 0.0;
    // A loop inlines the large traversal code only once.
    loop {
        let found = bvh_traverse(ray, frame.leaf_cutoff, any);
        hit.t = select(found.t, -1.0, found.leaf == BVH_MISS);
        hit.leaf = found.leaf;
        hit.barycentric = found.barycentric;
        if !lifts {
            break;
        }
        if hit.t >= 0.0 && cosine <= 0.0 {
            hit.t *= length(lift);
            break;
        }
        lifts = false;
        ray = straight;
        if hit.t < 0.0 {
            ray = Ray(start.origin + lift, 0.0, direction - lift / distance, distance);
        } else {
            // Discards the attenuation of the first ray.
            ray_transmittance = 1.0;
            ray_blocker_distance = 0.0;
        }
    }
    hit.blocked = select(1.0 - ray_transmittance, 1.0, hit.t >= 0.0);
    hit.blocker_distance = select(ray_blocker_distance / max(hit.blocked, 1.0e-6), hit.t, hit.t >= 0.0);
    return hit;
}
