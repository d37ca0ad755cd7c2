// cell_begin: prepares the world cache for a frame.
//
// in, out  cells: cells of the last frame (gi/cells.wgsl)
// One thread per cell. A cell that nothing has read for CELL_LIFE frames is freed. The means of the others are limited
// in length, so that they follow changes.
#import "bvh/dispatch.wgsl"
#import "gi/cells.wgsl"

// Frames without a read after which a cell is freed.
const CELL_LIFE = 30u;

@group(1) @binding(0) var<uniform> params: CellParams;
@group(1) @binding(1) var<storage, read_write> cells: array<atomic<u32>>;

@compute @workgroup_size(64)
fn cell_begin(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let slot = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    if slot < CELLS_HEADER {
        atomicStore(&cells[slot], 0u);
    }
    if slot >= CELLS {
        return;
    }
    let at = cell_word(slot);
    let key = atomicLoad(&cells[at]);
    let is_read = atomicExchange(&cells[at + 1u], CELL_UNREAD) != CELL_UNREAD;
    if key == 0u {
        return;
    }
    let other = cell_pair(slot, 4u);
    var state = cell_state(other);
    state.age = select(state.age + 1u, 0u, is_read);
    if state.age > CELL_LIFE || params.begins != 0u {
        atomicStore(&cells[at], 0u);
        for (var word = 2u; word < CELL_WORDS; word++) {
            atomicStore(&cells[at + word], 0u);
        }
        return;
    }
    let light = cell_pair(slot, 2u);
    let frames = min(rgb16_rest(light), params.most_frames);
    atomicStore(&cells[at], key | CELL_OLD);
    atomicStore(&cells[at + 3u], rgb16_with_rest(light.y, frames));
    atomicStore(&cells[at + 5u], rgb16_with_rest(other.y, cell_state_pack(state)));
}
