// Layout of the results of shadow rays, in one buffer of words. First come SHADOW_HEADER words of counts. For every
// four slots (shadow/chosen_lights.wgsl) follows one word per pixel, with the visible fraction of slot i's light in
// byte i % 4. If cost is counted, two words per pixel hold the nodes (TLAS included) and the triangles that the pixel's
// rays visited. If lights are chosen at random, one word per pixel and slot holds the light (shadow/chosen_light.wgsl).
#import "frame/frame.wgsl"

// Number of rays traced.
const SHADOW_RAYS_SENT = 0u;
// Number of tiles that traced rays.
const SHADOW_TILES_SENDING = 1u;

// Word of a pixel that shows a point or a line and traces no rays. All lights are visible.
const SHADOW_UNTRACED = 0xffffffffu;

// Returns the index of the word that holds the slot's byte.
fn shadow_word(slot: u32, pixel: vec2u) -> u32 {
    return SHADOW_HEADER + (slot / 4u * frame.size.y + pixel.y) * frame.size.x + pixel.x;
}

// Packs a visible fraction from 0 to 1 in the slot's byte.
fn shadow_share_pack(share: f32, slot: u32) -> u32 {
    return u32(round(255.0 * share)) << (8u * (slot % 4u));
}

fn shadow_share_unpack(word: u32, slot: u32) -> f32 {
    return f32((word >> (8u * (slot % 4u))) & 255u) / 255.0;
}

// Returns the index of the first word after the words of all slots.
fn shadow_words_end() -> u32 {
    let layers = max((frame.light_slots + 3u) / 4u, 1u);
    return SHADOW_HEADER + layers * frame.size.y * frame.size.x;
}

// Returns the index of the first of the pixel's two cost words.
fn shadow_cost_word(pixel: vec2u) -> u32 {
    return shadow_words_end() + 2u * (pixel.y * frame.size.x + pixel.x);
}
