// Where the last frame saw a pixel's surface: four of its pixels, and which of them show it.

// The bit of the first word that `SignalTaps.moves` is.
const SIGNAL_TAPS_MOVE = 0x80000000u;

struct SignalTaps {
    // The upper left one.
    corner: vec2i,
    // How much each counts: along a row, then the row below. Together 1, or 0 where the surface is new.
    weights: vec4f,
    // Whether what the signal is of may have changed.
    moves: bool,
}

// `part` is where the surface lies between the four, and bit i of `same` says that pixel i shows it. 15 bits hold a
// coordinate of the corner, of pictures of up to 32,766 pixels a side.
fn signal_taps_pack(corner: vec2i, part: vec2f, same: u32, moves: bool) -> vec2u {
    let at = vec2u(corner + 1) & vec2u(0x7fffu);
    let steps = vec2u(round(part * 16383.0));
    let place = at.x | (at.y << 15u) | select(0u, SIGNAL_TAPS_MOVE, moves);
    return vec2u(place, steps.x | (steps.y << 14u) | (same << 28u));
}

fn signal_taps_unpack(words: vec2u) -> SignalTaps {
    let part = vec2f(vec2u(words.y, words.y >> 14u) & vec2u(0x3fffu)) / 16383.0;
    let same = (vec4u(words.y >> 28u) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u);
    let sides = vec4f(1.0 - part.x, part.x, 1.0 - part.x, part.x);
    let weights = sides * vec4f(vec2f(1.0 - part.y), vec2f(part.y)) * vec4f(same);
    let sum = dot(weights, vec4f(1.0));
    // Less than a hundredth of a pixel counts as nothing.
    let known = select(0.0, 1.0 / max(sum, 0.01), sum > 0.01);
    let corner = vec2i(vec2u(words.x, words.x >> 15u) & vec2u(0x7fffu)) - 1;
    return SignalTaps(corner, weights * known, words.x >= SIGNAL_TAPS_MOVE);
}

// The one that counts most.
fn signal_taps_nearest(taps: SignalTaps) -> vec2i {
    let part = vec2f(taps.weights.y + taps.weights.w, taps.weights.z + taps.weights.w);
    return taps.corner + vec2i(part > vec2f(0.5));
}
