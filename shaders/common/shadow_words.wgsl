// The results of shadow rays, in one buffer of words: SHADOW_HEADER words of counts; for every 32 lights a
// word per pixel, whose bit i % 32 is set where light i is visible; then two words per pixel with the nodes
// (TLAS included) and the triangles that the pixel's rays visited.
#import "common/frame.wgsl"

// Number of rays traced.
const SHADOW_RAYS_SENT = 0u;
// Number of tiles that traced rays.
const SHADOW_TILES_SENDING = 1u;

// The word of a pixel that shows a point or a line and traces no rays: all lights are visible.
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
