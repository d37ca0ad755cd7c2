// cell_light: adds the light that arrives at the listed cells by way of other cells.
//
// in   list, light and hits of gi/cell_rays.wgsl; cells (gi/cells.wgsl); the BVHs (group 1), the merged scene (group 2)
// out  light_out: samples of both means of each cell
// One thread per entry of the list. gi/cell_blend.wgsl stores the samples, so that all cells are read as the last frame
// left them.
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
    if entry.w != params.tag {
        return;
    }
    var sample = textureLoad(light, place, 0);
    let words = textureLoad(hits, place, 0).xy;
    if words.x != OCCLUSION_UNHIT.x {
        let hit = occlusion_hit_unpack(words);
        let origin = cell_point(entry.y, occlusion_hit_unpack(entry.yz).barycentric);
        let reader = CellReader(cell_surface_found(hit, origin), true, 1u, entry.x);
        let slot = cell_find(cell_reader_key(reader, params.index));
        let albedo = hit_albedo(hit);
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
