// cell_light: adds the light that arrives at the listed cells by way of other cells.
//
// in   list, light and hits of gi/cell_rays.wgsl; cells (gi/cells.wgsl); the BVHs (group 1), the merged scene (group 2)
// out  light_out: samples of both means of each cell
//
// cell_blend: averages these samples into the cells, and keeps the hits for the next frame.
//
// in       list, samples and hits
// in, out  cells
// One thread per entry of the list. These are two passes, so that all cells are read as the last frame left them.
#import "ambient/scattered_share.wgsl"
#import "gi/cell_readers.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> params: CellParams;
@group(3) @binding(2) var<storage, read_write> cells: array<atomic<u32>>;
@group(3) @binding(3) var list: texture_2d<u32>;
@group(3) @binding(4) var light: texture_2d<u32>;
@group(3) @binding(5) var hits: texture_2d<u32>;
@group(3) @binding(6) var light_out: texture_storage_2d<rgba32uint, write>;

// True if a cell has a mean.
fn is_known(slot: u32) -> bool {
    return slot != CELL_NONE && rgb16_rest(cell_pair(slot, 2u)) > 0u;
}

// Returns the mean of all light that arrives at a cell.
fn arriving(slot: u32) -> vec3f {
    return rgb16_unpack(cell_pair(slot, 2u)) + rgb16_unpack(cell_pair(slot, 4u));
}

@compute @workgroup_size(8, 8)
fn cell_light(@builtin(global_invocation_id) id: vec3u) {
    let place = id.xy + vec2u(0u, row_offset);
    if any(place >= textureDimensions(list)) {
        return;
    }
    let entry = textureLoad(list, place, 0);
    if entry.w != params.index {
        return;
    }
    var sample = textureLoad(light, place, 0);
    let words = textureLoad(hits, place, 0).xy;
    if words.x != OCCLUSION_UNHIT.x {
        let hit = cell_hit(words, cell_surface(entry.yz).position);
        let key = cell_reader_key(CellReader(hit, 1u, entry.x), params.index);
        let slot = cell_find(key);
        let albedo = hit_albedo(occlusion_hit_unpack(words));
        // A cell that is not known yet is taken to be as bright as the one that its ray comes from. If that is new too,
        // both are taken to be in a closed room, in which light bounces without end.
        var there = (rgb16_unpack(sample.xy) + rgb16_unpack(sample.zw)) / (1.0 - min(albedo, vec3f(0.9)));
        if is_known(slot) {
            there = arriving(slot);
        } else if is_known(entry.x) {
            there = arriving(entry.x);
        }
        let other = rgb16_unpack(sample.zw) + albedo * there;
        sample = vec4u(sample.xy, rgb16_pack(min(other, vec3f(RADIANCE_MAX)), 0u));
    }
    textureStore(light_out, place, sample);
}

@compute @workgroup_size(8, 8)
fn cell_blend(@builtin(global_invocation_id) id: vec3u) {
    let place = id.xy + vec2u(0u, row_offset);
    if any(place >= textureDimensions(list)) {
        return;
    }
    let entry = textureLoad(list, place, 0);
    if entry.w != params.index {
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
    cell_store_pair(entry.x, 6u, cell_hit(textureLoad(hits, place, 0).xy, cell_surface(entry.yz).position));
}
