// cell_read: reads the world cache at the hits of the pixels' occlusion rays.
//
// in   hits_texture; keys of gi/cell_claims.wgsl; cells (gi/cells.wgsl); the BVHs (group 1), the merged scene (group 2)
// out  light_out: radiance towards each pixel (math/rgb16.wgsl), without the light of lights
// One thread per pixel.
#import "ambient/scattered_share.wgsl"
#import "gi/cells.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<storage, read_write> cells: array<atomic<u32>>;
@group(3) @binding(2) var hits_texture: texture_2d<u32>;
@group(3) @binding(3) var keys: texture_2d<u32>;
@group(3) @binding(4) var light_out: texture_storage_2d<rg32uint, write>;

@compute @workgroup_size(8, 8)
fn cell_read(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    let key = textureLoad(keys, pixel, 0).xy;
    var radiance = vec3f(0.0);
    if key.y != 0u {
        let slot = cell_find(CellKey(key.x, key.y));
        if slot != CELL_NONE {
            let hit = occlusion_hit_unpack(textureLoad(hits_texture, pixel, 0).xy);
            radiance = hit_albedo(hit) * rgb16_unpack(cell_pair(slot, 4u));
        }
    }
    textureStore(light_out, pixel, vec4u(rgb16_pack(radiance, 0u), 0u, 0u));
}
