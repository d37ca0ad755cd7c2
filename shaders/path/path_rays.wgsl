// The rays of a path (path/path_state.wgsl) through the trees.
#import "material/alpha.wgsl"
#import "bvh/bvh.wgsl"
#import "frame/gbuffer_ids.wgsl"
#import "path/path_state.wgsl"

// Backs of single-sided surfaces that a ray from the eye passes.
const MOST_BACKS = 16u;

// What any-hit tests know of the ray: a number of its own, and whether clear surfaces let it pass.
var<private> ray_seed: u32;
var<private> passes_clear: bool;

// Blended surfaces are there for the share of rays that their alpha says, each surface for others.
fn bvh_accepts(triangle: LeafTriangle, barycentric: vec2f) -> bool {
    let header = ALPHA_HEADER * triangle.payload;
    if alpha[header + ALPHA_MODE] == ALPHA_CLEAR && passes_clear {
        return false;
    }
    let value = alpha_value(header, triangle.triangle, barycentric);
    let blends = alpha[header + ALPHA_BLENDED] != 0u;
    let least = f32(path_hash(ray_seed ^ path_hash(triangle.triangle)) >> 8u) / 16777216.0;
    return select(value >= bitcast<f32>(alpha[header + ALPHA_CUTOFF]), value > least, blends);
}

// A ray that asks for light, from a surface that the path has left.
fn path_asking_ray(which: u32, is_lifted: bool) -> Ray {
    let wanted = asked[max(which, RAY_LIGHT) - RAY_LIGHT];
    var ray = Ray(state.asked_from, 0.0, wanted.direction, wanted.distance);
    // As shadow/shadow_ray.wgsl starts grazing rays.
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
    // Light of lamps passes glass as it does in the fast frame; all other light is found by paths.
    passes_clear = which <= RAY_LIGHT;
    ray_seed = path_hash(pixel.x + path_hash(pixel.y + path_hash(params.index * 512u + bounce * 8u + which)));
    return bvh_traverse(ray, frame.leaf_cutoff, which != RAY_ON);
}

// Whether the ray to a light starts at the smooth surface, by what the way there has hit.
fn path_lifts(is_hit: bool) -> bool {
    if is_hit && state.is_below {
        asked[0].light = vec3f(0.0);
    }
    return !is_hit;
}

// Whether the eye's ray goes on behind what it hit, the back of a single-sided surface.
fn path_passes_back(hit: PathHit) -> bool {
    return (hit.seen & GBUFFER_BACK) != 0u && alpha[ALPHA_HEADER * hit.material + ALPHA_DOUBLE_SIDED] == 0u;
}

fn path_hit(hit: BvhLeafHit) -> PathHit {
    if hit.leaf == BVH_MISS {
        return PathHit(0u, 0u, vec2f(0.0), 0.0);
    }
    let triangle = tree_triangle(hit.leaf);
    let across = cross(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0);
    let is_back = dot(across, state.direction) > 0.0;
    let seen = (triangle.triangle + 1u) | GBUFFER_HIT | select(0u, GBUFFER_BACK, is_back);
    return PathHit(seen, triangle.payload, hit.barycentric, hit.t);
}
