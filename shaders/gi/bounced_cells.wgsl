// bounced_cells: light that arrives along one ambient occlusion ray of each pixel: of one light at its hit, by a shadow
// ray, and the rest from the world cache. Frames in motion use it in place of ambient/bounced_light.wgsl.
//
// in   hits_texture: the closest hit of the ray; cell_light: light of gi/cell_read.wgsl; the G-buffer; lights, the
//      merged scene (group 2), the BVHs (group 1), the path tracer's table, a slice of rows
// out  noisy_out: radiance towards the pixel, in two layers of words (math/rgb16.wgsl)
// One thread per pixel. Emissive triangles also light the pixel itself.
#import "ambient/bounced.wgsl"
#import "ambient/inwards.wgsl"
#import "bvh/bvh_rays.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "gi/emitter_light.wgsl"
#import "math/rgb16.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> occlusion: OcclusionParams;
@group(3) @binding(2) var<uniform> params: PathParams;
@group(3) @binding(3) var<storage, read> table: array<u32>;
@group(3) @binding(4) var hits_texture: texture_2d<u32>;
@group(3) @binding(5) var cell_light: texture_2d<u32>;
#texels 3 6 position_texture: rgba32float
#texels 3 7 normal_texture: r32uint
#texels 3 8 ids_texture: r32uint
@group(3) @binding(9) var noisy_out: texture_storage_2d_array<r32uint, write>;

// Returns the light of emissive triangles that arrives at the pixel: a sampled one, and the one that the ray has hit.
fn emitters_at(pixel: vec2u, surface_id: u32, words: vec2u) -> vec3f {
    let seen = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz;
    let normal = octahedral_unpack(textureLoad(normal_texture, pixel, 0).r);
    var start = shadow_ray_start(surface_id, seen);
    start.origin += inwards(gbuffer_triangle(surface_id), start);
    var light = vec3f(0.0);
    if params.emitter_count > 0u {
        let choice = sampling_point(pixel, occlusion.index, SAMPLE_EMITTER);
        light = emitter_light(start, normal, choice, sampling_point(pixel, occlusion.index, SAMPLE_EMITTER_POINT));
    }
    if words.x != OCCLUSION_UNHIT.x {
        let hit = occlusion_hit_unpack(words);
        let triangle = tree_triangle(hit.leaf);
        let along = mat2x3f(triangle.v1 - triangle.v0, triangle.v2 - triangle.v0) * hit.barycentric;
        let offset = triangle.v0 + along - start.origin;
        let direction = offset / max(length(offset), 1.0e-20);
        light += emitted_light(start, normal, direction, triangle, hit.barycentric);
    }
    return light;
}

@compute @workgroup_size(8, 8)
fn bounced_cells(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let surface_id = textureLoad(ids_texture, pixel, 0).r;
    let words = textureLoad(hits_texture, pixel, 0).xy;
    var radiance = rgb16_unpack(textureLoad(cell_light, pixel, 0).xy);
    if words.x != OCCLUSION_UNHIT.x && frame.light_count > 0u {
        radiance += bounced(pixel, occlusion.index, occlusion_hit_unpack(words));
    }
    if gbuffer_is_triangle(surface_id) {
        radiance += emitters_at(pixel, surface_id, words);
    }
    let packed = rgb16_pack(min(radiance, vec3f(RADIANCE_MAX)), 0u);
    textureStore(noisy_out, pixel, 0u, vec4u(packed.x, 0u, 0u, 0u));
    textureStore(noisy_out, pixel, 1u, vec4u(packed.y, 0u, 0u, 0u));
}
