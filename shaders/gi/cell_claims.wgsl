// cell_claims: claims cells for all readers of the world cache.
//
// cell_offers: afterwards, offers each cell its readers. The least of them represents the cell.
//
// in       hits_texture: the hit of one occlusion ray per pixel; positions of the G-buffer, the BVHs (group 1), the
//          merged scene (group 2)
// in, out  cells (gi/cells.wgsl); cell_offers counts the cells that are read in CELLS_READ
// One thread per pixel, and then one per cell.
#import "bvh/dispatch.wgsl"
#import "gi/cell_pixels.wgsl"

@group(3) @binding(0) var<uniform> params: CellParams;
@group(3) @binding(1) var<storage, read_write> cells: array<atomic<u32>>;
@group(3) @binding(2) var hits_texture: texture_2d<u32>;
#texels 3 3 position_texture: rgba32float

// Bound on the keys that a claim moves. At the load of the table, chains are a few keys long.
const CELL_MOVES = 64u;

fn claim(key: CellKey) {
    let slot_found = cell_find(key);
    if slot_found != CELL_NONE && atomicLoad(&cells[cell_word(slot_found)]) >= CELL_OLD {
        return;
    }
    var slot = key.slot;
    var word = key.checksum << 2u;
    for (var i = 0u; i < CELL_MOVES; i++) {
        let before = atomicMax(&cells[cell_word(slot)], word);
        // The smaller key moves on.
        let left = min(before, word);
        if before == word || left == 0u || (left & 3u) == CELL_PROBES - 1u {
            return;
        }
        slot = cell_next(slot, left);
        word = left + 1u;
    }
}

fn offer(reader: CellReader, key: CellKey) {
    let slot = cell_find(key);
    if slot == CELL_NONE {
        return;
    }
    let before = atomicMin(&cells[cell_word(slot) + 1u], cell_reader_pack(reader, params.index));
    if before == CELL_UNREAD {
        atomicAdd(&cells[CELLS_READ], 1u);
    }
}

// Returns the reader of a thread.
fn reader(number: u32) -> CellReader {
    let pixels = frame.size.x * frame.size.y;
    if number >= pixels {
        return cell_reader_of_cell(number - pixels);
    }
    let pixel = vec2u(number % frame.size.x, number / frame.size.x);
    return cell_reader_of_pixel(pixel);
}

fn is_reader(number: u32) -> bool {
    return number < frame.size.x * frame.size.y + CELLS;
}

@compute @workgroup_size(64)
fn cell_claims(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    if is_reader(number) {
        let found = reader(number);
        if found.hit.x != 0u {
            claim(cell_reader_key(found, params.index));
        }
    }
}

@compute @workgroup_size(64)
fn cell_offers(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    if is_reader(number) {
        let found = reader(number);
        if found.hit.x != 0u {
            offer(found, cell_reader_key(found, params.index));
        }
    }
}
