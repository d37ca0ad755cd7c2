// bounced_light: one bounce of indirect diffuse light from all lights.
//
// in   hits_texture: the closest hit of one ambient occlusion ray per pixel; lights, the merged scene (group 2), the
//      BVHs (group 1), a slice of rows
// out  noisy_out: radiance towards the pixel, in two layers of words (math/rgb16.wgsl), or 0 for a miss
// One thread per pixel. The rays are cosine-distributed, so the mean of the result times the albedo is the radiance
// that the pixel's surface reflects. Surfaces at hits are Lambertian and have the mean colour of their texture.
#import "bvh/bvh_rays.wgsl"
#import "ambient/bounced.wgsl"
#import "ambient/occlusion_hit.wgsl"
#import "math/rgb16.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var hits_texture: texture_2d<u32>;
@group(3) @binding(2) var<uniform> params: OcclusionParams;
@group(3) @binding(3) var noisy_out: texture_storage_2d_array<r32uint, write>;

@compute @workgroup_size(8, 8)
fn bounced_light(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let words = textureLoad(hits_texture, pixel, 0).xy;
    var radiance = vec3f(0.0);
    if words.x != OCCLUSION_UNHIT.x {
        radiance = bounced(pixel, params.index, occlusion_hit_unpack(words));
    }
    let packed = rgb16_pack(radiance, 0u);
    textureStore(noisy_out, pixel, 0u, vec4u(packed.x, 0u, 0u, 0u));
    textureStore(noisy_out, pixel, 1u, vec4u(packed.y, 0u, 0u, 0u));
}
