// A tile of 8 × 8 pixels with an apron of neighbouring pixels.

// Width of the apron, and side length of the tile with its apron, in pixels.
const APRON = 2u;
const APRON_TILE = 12u;

// Returns pixel `i` of the tile with its apron. `first` is the tile's first pixel, and `size` the picture size. Pixels
// outside the picture are clamped to its border.
fn apron_pixel(first: vec2u, i: u32, size: vec2u) -> vec2u {
    let around = vec2i(first) + vec2i(vec2u(i % APRON_TILE, i / APRON_TILE)) - i32(APRON);
    return vec2u(clamp(around, vec2i(0), vec2i(size) - 1));
}
