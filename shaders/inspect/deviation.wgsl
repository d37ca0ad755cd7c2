// deviation: distance from each visible surface point to a reference surface.
//
// in   G-buffer; the BVH over the reference surface (group 1), and its moments if it is closed (bvh/build/moments.wgsl)
// out  deviation_out: signed distance in metres, negative inside, and the distance divided by params.range; zero on the
//      background
// One thread per pixel. The sign comes from the winding number. `deviation_open` is for surfaces with open edges and
// takes the sign from the pseudonormal at the nearest point.
#import "bvh/bvh_nearest.wgsl"
#import "bvh/bvh_pseudonormal.wgsl"
#import "bvh/bvh_winding.wgsl"
#import "frame/gbuffer.wgsl"
#import "frame/gbuffer_position.wgsl"

struct DeviationParams {
    // Origin of the frame relative to the origin of the tree.
    offset: vec3f,
    leaf_cutoff: u32,
    size: vec2u,
    range: f32,
    // Row pair at which the moments of the tree's nodes begin.
    first_node: u32,
    // View rays of the G-buffer.
    rays: ViewRays,
}

@group(0) @binding(0) var<uniform> row_offset: u32;
@group(0) @binding(1) var position_texture: texture_2d<f32>;
@group(0) @binding(2) var<uniform> params: DeviationParams;
@group(0) @binding(3) var deviation_out: texture_storage_2d<rg32float, write>;
@group(0) @binding(4) var<storage, read> moments: array<vec4f>;

// Search radius in metres.
const FARTHEST = 1.0e18;

// Surface point of a pixel and the nearest point of the reference surface.
struct NearestSample {
    // Relative to the origin of the tree.
    point: vec3f,
    // Distance to `nearest` in metres, or 0 on the background.
    distance: f32,
    nearest: vec3f,
    // BVH_MISS on the background.
    leaf: u32,
    barycentric: vec2f,
}

fn nearest_sample(pixel: vec2u) -> NearestSample {
    let at = (vec2f(pixel) + 0.5) / vec2f(params.size);
    let seen = gbuffer_point(textureLoad(position_texture, pixel, 0), params.rays, at);
    let point = seen.xyz + params.offset;
    var out = NearestSample(point, 0.0, point, BVH_MISS, vec2f());
    if seen.w != 0.0 && !gbuffer_is_ground(seen.w) {
        let nothing = BvhNearLeaf(FARTHEST * FARTHEST, BVH_MISS, 0u);
        let found = bvh_nearest_leaf(point, nothing, params.leaf_cutoff);
        if found.leaf != BVH_MISS {
            let near = bvh_nearest_point(point, FARTHEST, found);
            out = NearestSample(point, near.distance, near.position, found.leaf, near.barycentric);
        }
    }
    return out;
}

fn store(pixel: vec2u, distance: f32) {
    textureStore(deviation_out, pixel, vec4f(distance, distance / params.range, 0.0, 0.0));
}

@compute @workgroup_size(8, 8)
fn deviation(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= params.size) {
        return;
    }
    let near = nearest_sample(pixel);
    var is_inside = false;
    if near.leaf != BVH_MISS {
        is_inside = bvh_winding_number(near.point, params.leaf_cutoff, params.first_node) > 0.5;
    }
    store(pixel, select(near.distance, -near.distance, is_inside));
}

@compute @workgroup_size(8, 8)
fn deviation_open(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= params.size) {
        return;
    }
    let near = nearest_sample(pixel);
    var is_behind = false;
    if near.leaf != BVH_MISS {
        let t = tree_triangle(near.leaf);
        let side = bvh_pseudonormal(t.v0, t.v1, t.v2, near.barycentric, params.leaf_cutoff);
        is_behind = dot(side, near.point - near.nearest) < 0.0;
    }
    store(pixel, select(near.distance, -near.distance, is_behind));
}
