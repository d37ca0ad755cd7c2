// deviation: how far what each pixel sees is from the surface that it is compared with.
//
// in   G-buffer; the tree over that surface (group 1), whose triangles are one mesh; its pseudonormals, seven a
//      triangle: of the face, of the edges from corner to next corner, of the corners
// out  deviation_out: signed distance in metres, negative inside, and the same over params.range; zeros where nothing
//      is seen
// One thread per pixel. The sign is that of the angle-weighted pseudonormal at the nearest point (Baerentzen and
// Aanaes 2005).
#import "common/bvh_nearest.wgsl"
#import "common/gbuffer.wgsl"

struct DeviationParams {
    // The frame's origin, from that of the tree.
    offset: vec3f,
    leaf_cutoff: u32,
    size: vec2u,
    range: f32,
}

@group(0) @binding(0) var<uniform> first_row: u32;
@group(0) @binding(1) var position_texture: texture_2d<f32>;
@group(0) @binding(2) var<uniform> params: DeviationParams;
@group(0) @binding(3) var<storage, read> pseudonormals: array<u32>;
@group(0) @binding(4) var deviation_out: texture_storage_2d<rg32float, write>;

// Weight of a corner below which the nearest point lies on the opposite edge.
const ON_EDGE = 1.0e-6;

// Number of the pseudonormal at a point of a triangle.
fn feature(barycentric: vec2f) -> u32 {
    let weights = vec3f(1.0 - barycentric.x - barycentric.y, barycentric);
    let is_off = weights <= vec3f(ON_EDGE);
    if all(is_off.yz) {
        return 4u;
    }
    if all(is_off.zx) {
        return 5u;
    }
    if all(is_off.xy) {
        return 6u;
    }
    return select(select(select(0u, 3u, is_off.y), 2u, is_off.x), 1u, is_off.z);
}

@compute @workgroup_size(8, 8)
fn deviation(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= params.size) {
        return;
    }
    let seen = textureLoad(position_texture, pixel, 0);
    var distance = 0.0;
    if seen.w != 0.0 && !gbuffer_is_ground(seen.w) {
        let point = seen.xyz + params.offset;
        let near = bvh_nearest(point, 1.0e18, params.leaf_cutoff);
        if near.mesh != BVH_MISS {
            let word = 7u * near.triangle + feature(near.barycentric);
            let side = dot(octahedral_unpack(pseudonormals[word]), point - near.position);
            distance = select(near.distance, -near.distance, side < 0.0);
        }
    }
    textureStore(deviation_out, pixel, vec4f(distance, distance / params.range, 0.0, 0.0));
}
