// Where the last frame saw a pixel's surface: four of its pixels, and which of them show it.

struct SignalTaps {
    // The upper left one.
    corner: vec2i,
    // How much each counts: along a row, then the row below. Together 1, or 0 where the surface is new.
    weights: vec4f,
}

// `part` is where the surface lies between the four, and bit i of `same` says that pixel i shows it.
fn signal_taps_pack(corner: vec2i, part: vec2f, same: u32) -> vec2u {
    let at = vec2u(corner + 1) & vec2u(0xffffu);
    let steps = vec2u(round(part * 16383.0));
    return vec2u(at.x | (at.y << 16u), steps.x | (steps.y << 14u) | (same << 28u));
}

fn signal_taps_unpack(words: vec2u) -> SignalTaps {
    let part = vec2f(vec2u(words.y, words.y >> 14u) & vec2u(0x3fffu)) / 16383.0;
    let same = (vec4u(words.y >> 28u) >> vec4u(0u, 1u, 2u, 3u)) & vec4u(1u);
    let sides = vec4f(1.0 - part.x, part.x, 1.0 - part.x, part.x);
    let weights = sides * vec4f(vec2f(1.0 - part.y), vec2f(part.y)) * vec4f(same);
    let sum = dot(weights, vec4f(1.0));
    // Less than a hundredth of a pixel counts as nothing.
    let known = select(0.0, 1.0 / max(sum, 0.01), sum > 0.01);
    return SignalTaps(vec2i(vec2u(words.x, words.x >> 16u) & vec2u(0xffffu)) - 1, weights * known);
}
