// cell_offers: offers each cell of the world cache its readers. The least of them represents the cell.
//
// in       keys: key of the cell that each pixel reads; the merged scene (group 2)
// in, out  cells (gi/cells.wgsl); CELLS_NEW and CELLS_KNOWN of the header count the cells that are read
// One thread per pixel, and then one per cell.
#import "bvh/dispatch.wgsl"
#import "gi/cell_readers.wgsl"

@group(3) @binding(0) var<uniform> params: CellParams;
@group(3) @binding(1) var<storage, read_write> cells: array<atomic<u32>>;
@group(3) @binding(2) var keys: texture_2d<u32>;

fn offer(rank: u32, number: u32, key: CellKey) {
    let slot = cell_find(key);
    if slot == CELL_NONE {
        return;
    }
    let before = atomicMin(&cells[cell_word(slot) + 1u], cell_reader_pack(rank, number, params.index));
    if before == CELL_UNREAD {
        atomicAdd(&cells[select(CELLS_KNOWN, CELLS_NEW, rgb16_rest(cell_pair(slot, 2u)) == 0u)], 1u);
    }
}

@compute @workgroup_size(64)
fn cell_offers(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    let pixels = frame.size.x * frame.size.y;
    if number < pixels {
        let key = textureLoad(keys, vec2u(number % frame.size.x, number / frame.size.x), 0).xy;
        if key.y != 0u {
            offer(0u, number, CellKey(key.x, key.y));
        }
    } else if number < pixels + CELLS {
        let found = cell_reader_of_cell(number - pixels);
        if found.is_present {
            offer(found.rank, found.number, cell_reader_key(found, params.index));
        }
    }
}
