// World cache: light that arrives at surfaces by way of other surfaces, in cells of space.
//
// The cache is a hash table with open addressing, in one buffer of words: a header, then CELL_WORDS words per cell:
//
// 0     key: bit CELL_OLD from the frame after the claim on, 29 bits of checksum, and two of the number of the probe;
//       0 for a free cell
// 1     the reader that represents the cell in this frame (`cell_reader_pack`); all ones if nothing reads it
// 2, 3  mean light of lights (math/rgb16.wgsl); the rest is the number of frames in the means
// 4, 5  mean light of everything else: emissive surfaces, the environment, and other surfaces; the rest is a CellState
// 6, 7  hit of the last ray into the hemisphere (gi/cell_hit.wgsl)
//
// Light is the mean radiance over the cosine-weighted hemisphere. The radiance of a matte surface is its albedo times
// that.
//
// A cell is a cube, for one octant of normals. Its side grows with the distance, in powers of two (Binder, Fricke and
// Keller 2019, "Massively Parallel Path Space Filtering").
//
// No thread's order decides anything. Claims are a stable matching of keys and slots (Gale and Shapley 1962): a key
// wants its first free probe, and a slot keeps the largest key. That matching is the same for every order of claims.
#import "frame/frame.wgsl"
#import "gi/cell_hit.wgsl"
#import "gi/cell_params.wgsl"
#import "math/basis.wgsl"
#import "math/pcg.wgsl"
#import "math/rgb16.wgsl"

const CELL_UNREAD = 0xffffffffu;
const CELL_OLD = 0x80000000u;
const CELL_PROBES = 3u;
const CELL_CHECKS = 0x1fffffffu;
const CELL_NONE = 0xffffffffu;
// Levels by which a short ray may refine the cells.
const CELL_FINER = 3.0;
// Rank of a reader: 0 for a pixel, 1 for the ray of a cell that pixels read, and so on. Rays of cells of rank
// CELL_RANKS - 1 read cells but do not claim any. Cells that no pixel needs thus end.
const CELL_RANKS = 3u;

struct CellKey {
    slot: u32,
    checksum: u32,
}

fn cell_word(slot: u32) -> u32 {
    return CELLS_HEADER + CELL_WORDS * slot;
}

fn cell_random(seed: u32) -> f32 {
    return f32(seed >> 8u) / 16777216.0;
}

// Returns the key of the cell for a surface. Positions and sizes are dithered by `seed`, so that neighbouring cells
// blend into each other.
//
// A cell must not reach behind a wall that the reader does not see through. It is moved towards the reader, and it is
// smaller than the ray is long.
fn cell_key(surface: CellSurface, seed: u32) -> CellKey {
    let u = pcg_hash(seed);
    let v = pcg_hash(u);
    let normal = surface.normal;
    let mean_level = log2(cell_side(surface.position));
    let widest = floor(mean_level + cell_random(v));
    let level = min(widest, max(floor(mean_level + log2(0.25 * surface.sides)), widest - CELL_FINER));
    let basis = basis_about(normal);
    let moved = 0.5 * (cell_random(u) - 0.5) * basis.tangent + 0.5 * (cell_random(pcg_hash(v)) - 0.5) * basis.bitangent;
    let back = surface.to_reader - dot(surface.to_reader, normal) * normal;
    let nearer = min(0.75, 0.25 * surface.sides * exp2(mean_level - level)) * back;
    // Walls often lie on a plane between cells, on which rounding would decide. A step along the normal avoids that.
    let place = vec3i(floor(surface.position * exp2(-level) + moved + nearer + 0.3 * normal));
    // Skewed axes, so that the six axes lie well within six octants.
    let skewed = normal + 0.3 * vec3f(normal.z - normal.y, normal.x - normal.z, normal.x + normal.y);
    let octant = dot(select(vec3u(0u), vec3u(1u, 2u, 4u), skewed > vec3f(0.0)), vec3u(1u));
    let last = (bitcast<u32>(i32(level)) << 3u) | octant;
    let p = bitcast<vec3u>(place);
    let slot = pcg_hash(p.x + pcg_hash(p.y + pcg_hash(p.z + pcg_hash(last))));
    let checksum = pcg_hash(p.z ^ pcg_hash(p.y ^ pcg_hash(p.x ^ pcg_hash(~last))));
    return CellKey(slot & (CELLS - 1u), max(checksum & CELL_CHECKS, 1u));
}

// Returns the slot of a key's next probe. It depends on the key's word alone, because a claim also moves the keys of
// other readers.
fn cell_next(slot: u32, word: u32) -> u32 {
    return (slot + (pcg_hash((word >> 2u) & CELL_CHECKS) | 1u)) & (CELLS - 1u);
}

// State in the rest of a cell's words 4 and 5.
struct CellState {
    // Least rank of the readers at the last read.
    rank: u32,
    // Frames since the last read.
    age: u32,
}

fn cell_state(words: vec2u) -> CellState {
    let rest = rgb16_rest(words);
    return CellState(rest & 3u, rest >> 2u);
}

fn cell_state_pack(state: CellState) -> u32 {
    return state.rank | (state.age << 2u);
}

// Returns the slot that holds a key, or CELL_NONE.
fn cell_find(key: CellKey) -> u32 {
    var slot = key.slot;
    var word = key.checksum << 2u;
    for (var probe = 0u; probe < CELL_PROBES; probe++) {
        if (atomicLoad(&cells[cell_word(slot)]) & ~CELL_OLD) == word {
            return slot;
        }
        slot = cell_next(slot, word);
        word++;
    }
    return CELL_NONE;
}

fn cell_pair(slot: u32, word: u32) -> vec2u {
    let at = cell_word(slot) + word;
    return vec2u(atomicLoad(&cells[at]), atomicLoad(&cells[at + 1u]));
}

fn cell_store_pair(slot: u32, word: u32, pair: vec2u) {
    let at = cell_word(slot) + word;
    atomicStore(&cells[at], pair.x);
    atomicStore(&cells[at + 1u], pair.y);
}
