// cell_list: lists the cells that cast rays in this frame.
//
// in       cells, read by someone (gi/cells.wgsl); hits_texture; the BVHs (group 1), the merged scene (group 2)
// in, out  CELLS_LISTED of the header: the length of the list
// out      list_out: slot, surface id and barycentric coordinates (ambient/occlusion_hit.wgsl) of the hit that
//          represents the cell, and the tag of the frame; in no order, from tile to tile of 8 × 8 texels
// One thread per cell. If more cells are read than may cast rays, each one does so with the same probability;
// new cells, which are black to readers until then, with a higher one.
#import "bvh/dispatch.wgsl"
#import "gi/cell_readers.wgsl"

@group(3) @binding(0) var<uniform> params: CellParams;
@group(3) @binding(1) var<storage, read_write> cells: array<atomic<u32>>;
@group(3) @binding(2) var hits_texture: texture_2d<u32>;
@group(3) @binding(3) var list_out: texture_storage_2d<rgba32uint, write>;

@compute @workgroup_size(64)
fn cell_list(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let slot = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    if slot >= CELLS {
        return;
    }
    let at = cell_word(slot);
    let reader = atomicLoad(&cells[at + 1u]);
    if reader == CELL_UNREAD {
        return;
    }
    let rank = reader >> 30u;
    let other = cell_pair(slot, 4u);
    var state = cell_state(other);
    state.rank = rank;
    state.age = 0u;
    atomicStore(&cells[at + 5u], rgb16_with_rest(other.y, cell_state_pack(state)));
    // The margin of six standard deviations keeps the list from overflowing. Then the order of threads would matter.
    let is_new = rgb16_rest(cell_pair(slot, 2u)) == 0u;
    let most = f32(select(params.most_known, params.most_new, is_new));
    let share = (most - 6.0 * sqrt(most)) / f32(atomicLoad(&cells[select(CELLS_KNOWN, CELLS_NEW, is_new)]));
    if cell_random(pcg_hash(slot + pcg_hash(params.index))) >= share {
        return;
    }
    let number = cell_reader_number(reader, params.index);
    var hit = vec2u(0u);
    if rank == 0u {
        let pixel = vec2u(number % frame.size.x, number / frame.size.x);
        let words = textureLoad(hits_texture, pixel, 0).xy;
        hit = vec2u(cell_hit_id(occlusion_hit_unpack(words)), words.y);
    } else {
        let kept = cell_pair(number, 6u);
        hit = vec2u(kept.x, occlusion_hit_pack(OcclusionHit(0u, cell_barycentric(kept), false)).y);
    }
    let place = atomicAdd(&cells[CELLS_LISTED], 1u);
    if place < params.most_new + params.most_known {
        let tile = place / 64u;
        let corner = 8u * vec2u(tile % (CELL_LIST_WIDTH / 8u), tile / (CELL_LIST_WIDTH / 8u));
        let texel = corner + vec2u(place % 8u, place / 8u % 8u);
        textureStore(list_out, texel, vec4u(slot, hit, params.tag));
    }
}
