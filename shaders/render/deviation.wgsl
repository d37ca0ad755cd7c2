// deviation: how far what each pixel sees is from the surface that it is compared with.
//
// in   G-buffer; the tree over that surface (group 1)
// out  deviation_out: signed distance in metres, negative inside, and the same over params.range; zeros where nothing
//      is seen
// One thread per pixel. The sign is that of the pseudonormal at the nearest point.
#import "common/bvh_nearest.wgsl"
#import "common/bvh_pseudonormal.wgsl"
#import "common/gbuffer.wgsl"
#import "common/gbuffer_position.wgsl"

struct DeviationParams {
    // The frame's origin, from that of the tree.
    offset: vec3f,
    leaf_cutoff: u32,
    size: vec2u,
    range: f32,
    // Of the picture.
    rays: ViewRays,
}

@group(0) @binding(0) var<uniform> first_row: u32;
@group(0) @binding(1) var position_texture: texture_2d<f32>;
@group(0) @binding(2) var<uniform> params: DeviationParams;
@group(0) @binding(3) var deviation_out: texture_storage_2d<rg32float, write>;

// Metres within which the surface is looked for.
const FARTHEST = 1.0e18;

@compute @workgroup_size(8, 8)
fn deviation(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= params.size) {
        return;
    }
    let at = (vec2f(pixel) + 0.5) / vec2f(params.size);
    let seen = gbuffer_point(textureLoad(position_texture, pixel, 0), params.rays, at);
    var distance = 0.0;
    if seen.w != 0.0 && !gbuffer_is_ground(seen.w) {
        let point = seen.xyz + params.offset;
        let nothing = BvhNearLeaf(FARTHEST * FARTHEST, BVH_MISS, 0u);
        let found = bvh_nearest_leaf(point, nothing, params.leaf_cutoff);
        if found.leaf != BVH_MISS {
            let near = bvh_nearest_point(point, FARTHEST, found);
            let t = tree_triangle(found.leaf);
            let side = bvh_pseudonormal(t.v0, t.v1, t.v2, near.barycentric, params.leaf_cutoff);
            distance = select(near.distance, -near.distance, dot(side, point - near.position) < 0.0);
        }
    }
    textureStore(deviation_out, pixel, vec4f(distance, distance / params.range, 0.0, 0.0));
}
