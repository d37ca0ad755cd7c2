// Readers of the world cache: hits of the pixels' occlusion rays, and hits that rays of cells found in the last frame.
// The importer binds `cells`.
//
// A cell's light is sampled at the hit of one of its readers, which is chosen anew each frame: the one with the lowest
// rank, then the lowest hash.
#import "gi/cell_hit.wgsl"
#import "gi/cells.wgsl"

struct CellReader {
    surface: CellSurface,
    // False if its ray hit nothing.
    is_present: bool,
    rank: u32,
    // Number of the pixel or cell.
    number: u32,
}

const CELL_NUMBERS = 0x3fffffffu;

// Permutes 30 bits. The shifts undo themselves, and the factors of both directions are inverse modulo 2³⁰.
fn cell_permuted(x: u32, seed: u32) -> u32 {
    let a = (x ^ seed) & CELL_NUMBERS;
    let b = ((a ^ (a >> 15u)) * 0x2c1b3c6du) & CELL_NUMBERS;
    return b ^ (b >> 15u);
}

fn cell_permuted_back(y: u32, seed: u32) -> u32 {
    let b = y ^ (y >> 15u);
    let a = (b * 0x24ea2d65u) & CELL_NUMBERS;
    return (a ^ (a >> 15u) ^ seed) & CELL_NUMBERS;
}

fn cell_reader_pack(rank: u32, number: u32, index: u32) -> u32 {
    return (rank << 30u) | cell_permuted(number, pcg_hash(index));
}

fn cell_reader_number(word: u32, index: u32) -> u32 {
    return cell_permuted_back(word & CELL_NUMBERS, pcg_hash(index));
}

// Returns the reader for the ray that a cell cast in the last frame, if something read the cell in that frame.
fn cell_reader_of_cell(slot: u32) -> CellReader {
    let state = cell_state(cell_pair(slot, 4u));
    let hit = cell_pair(slot, 6u);
    let rank = 1u + state.rank;
    var reader: CellReader;
    reader.rank = rank;
    reader.number = slot;
    if hit.x != 0u && rank < CELL_RANKS && state.age == 0u {
        reader.is_present = true;
        reader.surface = cell_surface(hit);
    }
    return reader;
}

fn cell_reader_key(reader: CellReader, index: u32) -> CellKey {
    return cell_key(reader.surface, pcg_hash(reader.number + pcg_hash(4u * index + reader.rank)));
}
