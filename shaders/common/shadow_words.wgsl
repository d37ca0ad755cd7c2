// What shadow rays leave behind, in one buffer of words: SHADOW_HEADER words of counts; for every 32 lights a word a pixel, with bit i % 32 set where
// light i arrives; then two words a pixel: nodes (with rows of the TLAS) and triangles that the pixel's rays visited.
#import "common/frame.wgsl"

// Rays sent.
const SHADOW_RAYS_SENT = 0u;
// Tiles that sent rays.
const SHADOW_TILES_SENDING = 1u;

// The word of a pixel from which no rays are sent, for it shows a point or a line: all lights arrive.
const SHADOW_UNTRACED = 0xffffffffu;

// The word that holds the light's bit.
fn shadow_word(light: u32, pixel: vec2u) -> u32 {
    return SHADOW_HEADER + (light / 32u * frame.size.y + pixel.y) * frame.size.x + pixel.x;
}

// The first of the pixel's two words of cost.
fn shadow_cost_word(pixel: vec2u) -> u32 {
    let layers = max((frame.light_count + 31u) / 32u, 1u);
    return SHADOW_HEADER + (layers * frame.size.y + 2u * pixel.y) * frame.size.x + 2u * pixel.x;
}
