// Rays of a path (path/path_state.wgsl) through the BVHs.
#import "material/alpha.wgsl"
#import "bvh/bvh_rays.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "path/path_state.wgsl"

// Maximum number of back faces of single-sided surfaces that a ray from the eye passes through.
const MAX_BACKS = 16u;

// Ray state for the any-hit test: a seed, and whether the ray passes through clear surfaces.
var<private> ray_seed: u32;
var<private> passes_clear: bool;

// Any-hit test with stochastic alpha.
fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    let header = ALPHA_HEADER * triangle.payload;
    if tables[header + ALPHA_MODE] == ALPHA_CLEAR && passes_clear {
        return false;
    }
    return alpha_stops(header, triangle.triangle, barycentric, ray_seed);
}

// Returns the shadow ray for direct light, from the last surface of the path.
fn path_direct_ray(which: u32, is_lifted: bool) -> Ray {
    let wanted = direct_sample(which);
    var ray = Ray(state.direct_origin, 0.0, wanted.direction, wanted.distance);
    // Grazing rays start like in shadow/shadow_ray.wgsl.
    if which == RAY_LIFT {
        ray.direction = state.lift;
        ray.t_max = 1.0;
    } else if which == RAY_LIGHT && is_lifted {
        ray.origin += state.lift;
        ray.direction -= state.lift / wanted.distance;
    }
    return ray;
}

fn path_trace_ray(ray: Ray, which: u32, pixel: vec2u, bounce: u32) -> BvhLeafHit {
    // Light from punctual lights passes straight through glass, like in the real-time frame. All other light through
    // glass is found by paths.
    passes_clear = which <= RAY_LIGHT;
    ray_seed = pcg_hash(pixel.x + pcg_hash(pixel.y + pcg_hash(params.index * 512u + bounce * 8u + which)));
    return bvh_traverse(ray, frame.leaf_cutoff, which != RAY_ON);
}

// True if the ray to a light may start at the smooth surface, because nothing is hit on the way there. If something is,
// and the light is below the triangle, removes the direct light sample.
fn path_lifts(is_hit: bool) -> bool {
    if is_hit && state.is_below {
        direct_samples[0].light = vec3f(0.0);
    }
    return !is_hit;
}

// True if the ray from the eye continues beyond its hit, the back of a single-sided surface.
fn path_passes_back(hit: PathHit) -> bool {
    return (hit.surface_id & GBUFFER_BACK) != 0u && tables[ALPHA_HEADER * hit.material + ALPHA_DOUBLE_SIDED] == 0u;
}

fn path_hit(hit: BvhLeafHit) -> PathHit {
    if hit.leaf == BVH_MISS {
        return PathHit(0u, 0u, vec2f(0.0), 0.0);
    }
    let triangle = tree_triangle(hit.leaf);
    let across = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    let is_back = dot(across, state.direction) > 0.0;
    let surface_id = (triangle.triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, is_back);
    return PathHit(surface_id, triangle.payload, hit.barycentric, hit.t);
}
