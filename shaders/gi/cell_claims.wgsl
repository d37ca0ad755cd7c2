// cell_claims: claims cells for all readers of the world cache.
//
// in       hits_texture: the hit of one occlusion ray per pixel; positions of the G-buffer, the BVHs (group 1), the
//          merged scene (group 2)
// in, out  cells (gi/cells.wgsl)
// out      keys_out: key of the cell that each pixel reads; 0 if it reads none
// One thread per pixel, and then one per cell.
#import "bvh/dispatch.wgsl"
#import "frame/gbuffer_seen.wgsl"
#import "gi/cell_readers.wgsl"

@group(3) @binding(0) var<uniform> params: CellParams;
@group(3) @binding(1) var<storage, read_write> cells: array<atomic<u32>>;
@group(3) @binding(2) var hits_texture: texture_2d<u32>;
#texels 3 3 position_texture: rgba32float
@group(3) @binding(4) var keys_out: texture_storage_2d<rg32uint, write>;

// Bound on the keys that a claim moves. Keys get smaller along a chain, so it is a few keys long.
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

// Returns the reader of a thread.
fn reader(number: u32) -> CellReader {
    let pixels = frame.size.x * frame.size.y;
    if number >= pixels {
        return cell_reader_of_cell(number - pixels);
    }
    let pixel = vec2u(number % frame.size.x, number / frame.size.x);
    let seen = gbuffer_seen(textureLoad(position_texture, pixel, 0), pixel).xyz;
    let words = textureLoad(hits_texture, pixel, 0).xy;
    var reader: CellReader;
    reader.number = number;
    if words.x != OCCLUSION_UNHIT.x {
        reader.is_present = true;
        reader.surface = cell_surface_found(occlusion_hit_unpack(words), seen);
    }
    return reader;
}

@compute @workgroup_size(64)
fn cell_claims(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = 64u * dispatch_workgroup(workgroup, workgroups) + thread;
    let pixels = frame.size.x * frame.size.y;
    if number >= pixels + CELLS {
        return;
    }
    let found = reader(number);
    var key = CellKey(0u, 0u);
    if found.is_present {
        key = cell_reader_key(found, params.index);
        claim(key);
    }
    if number < pixels {
        let pixel = vec2u(number % frame.size.x, number / frame.size.x);
        textureStore(keys_out, pixel, vec4u(key.slot, key.checksum, 0u, 0u));
    }
}
