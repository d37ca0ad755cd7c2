// A tile of 8 × 8 pixels with those around it that its pixels look at.

// Pixels around it, and pixels of both along an edge.
const APRON = 2u;
const APRON_TILE = 12u;

// Pixel `i` of them, in a picture of `size` pixels whose edges go on outside. `first` is the tile's first one.
fn apron_pixel(first: vec2u, i: u32, size: vec2u) -> vec2u {
    let around = vec2i(first) + vec2i(vec2u(i % APRON_TILE, i / APRON_TILE)) - i32(APRON);
    return vec2u(clamp(around, vec2i(0), vec2i(size) - 1));
}
