// Per-pixel state of the shadows of two lights, packed in a word. Bit k is set if light k has an edge with a short
// history. The three bits from 4 (k + 1) on count the frames for which all 5 × 5 pixels were lit, or all in shadow. The
// next bit is set if they were in shadow.

// Bit in the texels of shadow_shafts that forces all rays of a tile to be traced.
const SHAFT_ALL = 0x80000000u;
// Greatest number of frames that is counted.
const SETTLED_MAX = 7u;
// Frames after which a light has settled. Each frame has traced the rays of 5 × 5 pixels.
const SETTLED_FRAMES = 4u;

fn shadow_edges_pack(edges: vec2<bool>, frames: vec2u, blocked: vec2<bool>) -> u32 {
    let states = frames | select(vec2u(0u), vec2u(8u), blocked);
    return dot(select(vec2u(0u), vec2u(1u, 2u), edges), vec2u(1u)) | (states.x << 4u) | (states.y << 8u);
}

fn shadow_edges_frames(word: u32) -> vec2u {
    return (vec2u(word) >> vec2u(4u, 8u)) & vec2u(SETTLED_MAX);
}

// Returns the bit mask of the settled lights of the pair.
fn shadow_edges_settled(word: u32) -> u32 {
    return dot(select(vec2u(0u), vec2u(1u, 2u), shadow_edges_frames(word) >= vec2u(SETTLED_FRAMES)), vec2u(1u));
}

fn shadow_edges_blocked(word: u32) -> u32 {
    return ((word >> 7u) & 1u) | ((word >> 10u) & 2u);
}
