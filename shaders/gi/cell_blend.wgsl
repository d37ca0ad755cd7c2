// cell_blend: averages samples into the listed cells of the world cache, and keeps the hits of their rays for the next
// frame.
//
// in       list, hits of gi/cell_rays.wgsl, samples of gi/cell_light.wgsl; the BVHs (group 1), the merged scene
//          (group 2)
// in, out  cells (gi/cells.wgsl)
// One thread per entry of the list.
#import "gi/cells.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> params: CellParams;
@group(3) @binding(2) var<storage, read_write> cells: array<atomic<u32>>;
@group(3) @binding(3) var list: texture_2d<u32>;
@group(3) @binding(4) var light: texture_2d<u32>;
@group(3) @binding(5) var hits: texture_2d<u32>;

@compute @workgroup_size(8, 8)
fn cell_blend(@builtin(global_invocation_id) id: vec3u) {
    let place = id.xy + vec2u(0u, row_offset);
    if any(place >= textureDimensions(list)) {
        return;
    }
    let entry = textureLoad(list, place, 0);
    if entry.w != params.tag {
        return;
    }
    let sample = textureLoad(light, place, 0);
    let of_lights = cell_pair(entry.x, 2u);
    let other = cell_pair(entry.x, 4u);
    let frames = rgb16_rest(of_lights);
    // Later frames weigh more, since more of the light has bounced.
    let share = 2.0 / f32(frames + 2u);
    let lit = mix(rgb16_unpack(of_lights), rgb16_unpack(sample.xy), share);
    let mean = mix(rgb16_unpack(other), rgb16_unpack(sample.zw), share);
    cell_store_pair(entry.x, 2u, rgb16_pack(lit, min(frames + 1u, 1023u)));
    cell_store_pair(entry.x, 4u, rgb16_pack(mean, rgb16_rest(other)));
    let words = textureLoad(hits, place, 0).xy;
    var kept = vec2u(0u);
    if words.x != OCCLUSION_UNHIT.x {
        let origin = cell_point(entry.y, occlusion_hit_unpack(entry.yz).barycentric);
        kept = cell_hit_pack(occlusion_hit_unpack(words), origin);
    }
    cell_store_pair(entry.x, 6u, kept);
}
