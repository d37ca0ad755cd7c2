// What a frame finds, at a pixel, of the shadows of two lights, in a word: bit k, whether there is an edge with little
// history of light k; from bit 4 (k + 1) on, frames in which 5 × 5 pixels found the same, and whether that was shadow.

// The bit of a tile in which no slot has settled.
const SHAFT_ALL = 0x80000000u;
// Most frames that are counted.
const SETTLED_MOST = 7u;
// Frames after which the light has settled, 25 rays each.
const SETTLED_FRAMES = 4u;

fn shadow_edges_pack(edges: vec2<bool>, frames: vec2u, blocked: vec2<bool>) -> u32 {
    let states = frames | select(vec2u(0u), vec2u(8u), blocked);
    return dot(select(vec2u(0u), vec2u(1u, 2u), edges), vec2u(1u)) | (states.x << 4u) | (states.y << 8u);
}

fn shadow_edges_frames(word: u32) -> vec2u {
    return (vec2u(word) >> vec2u(4u, 8u)) & vec2u(SETTLED_MOST);
}

// A bit for each of the two lights.
fn shadow_edges_settled(word: u32) -> u32 {
    return dot(select(vec2u(0u), vec2u(1u, 2u), shadow_edges_frames(word) >= vec2u(SETTLED_FRAMES)), vec2u(1u));
}

fn shadow_edges_blocked(word: u32) -> u32 {
    return ((word >> 7u) & 1u) | ((word >> 10u) & 2u);
}
