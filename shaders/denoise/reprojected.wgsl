// Reprojection of a pixel's surface: four pixels of the last frame, and which of them show it.

// Bit of the first word that holds `Reprojected.moves`.
const REPROJECTED_MOVE = 0x80000000u;

struct Reprojected {
    // The top-left pixel.
    corner: vec2i,
    // Weights of the four pixels in row order. Their sum is 1, or 0 for a disoccluded surface.
    weights: vec4f,
    // True if the signal may have changed.
    moves: bool,
}

// Packs taps. `part` is the fractional position between the four pixels, and bit i of `same` is set if pixel i shows
// the surface. A coordinate of the corner has 15 bits, for images of up to 32,766 pixels a side.
fn reprojected_pack(corner: vec2i, part: vec2f, same: u32, moves: bool) -> vec2u {
    let at = vec2u(corner + 1) & vec2u(0x7fffu);
    let steps = vec2u(round(part * 16383.0));
    let place = at.x | (at.y << 15u) | select(0u, REPROJECTED_MOVE, moves);
    return vec2u(place, steps.x | (steps.y << 14u) | (same << 28u));
}

fn reprojected_unpack(words: vec2u) -> Reprojected {
    let part = vec2f(vec2u(words.y, words.y >> 14u) & vec2u(0x3fffu)) / 16383.0;
    let same = (vec4u(words.y >> 28u) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u);
    let sides = vec4f(1.0 - part.x, part.x, 1.0 - part.x, part.x);
    let weights = sides * vec4f(vec2f(1.0 - part.y), vec2f(part.y)) * vec4f(same);
    let sum = dot(weights, vec4f(1.0));
    // A total weight of less than 0.01 counts as none.
    let known = select(0.0, 1.0 / max(sum, 0.01), sum > 0.01);
    let corner = vec2i(vec2u(words.x, words.x >> 15u) & vec2u(0x7fffu)) - 1;
    return Reprojected(corner, weights * known, words.x >= REPROJECTED_MOVE);
}

// Returns the pixel with the greatest weight.
fn reprojected_nearest(reprojected: Reprojected) -> vec2i {
    let part = vec2f(reprojected.weights.y + reprojected.weights.w, reprojected.weights.z + reprojected.weights.w);
    return reprojected.corner + vec2i(part > vec2f(0.5));
}
