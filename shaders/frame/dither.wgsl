// Noise of one level of eight bits that is added before a picture is stored, so that the mean of neighbours keeps
// what rounding takes away, and smooth colours show no bands.
//
// The noise is triangular, which leaves an error that does not depend on the colour (Wannamaker et al. 2000). Where
// it would leave the range it is uniform over one level. It stays with its pixel: a still picture is still. What
// eight bits hold, as colours that a file states, is stored as it is.

// How near a level a colour counts as that: what half a float has rounded away.
const DITHER_EXACT = 0.0625;

// A number in [0, 1) for each pixel, spread evenly over any few neighbours: multiples of the golden ratio along a
// row, which nothing spreads more evenly, and of the plastic number from row to row.
fn dither_number(pixel: vec2u) -> f32 {
    // 2³² / φ of the golden ratio, and 2³² / ρ of the plastic number.
    return f32((pixel.x * 2654435769u + pixel.y * 3242174889u) >> 8u) / 16777216.0;
}

// `encoded` is sRGB-encoded, and what comes back is to be rounded.
fn dither(encoded: vec3f, pixel: vec2u) -> vec3f {
    let levels = 255.0 * encoded;
    let side = 2.0 * dither_number(pixel) - 1.0;
    let triangular = sign(side) * (1.0 - sqrt(1.0 - abs(side)));
    let at_an_end = (levels < vec3f(0.5)) | (levels > vec3f(254.5));
    let noise = select(vec3f(triangular), vec3f(0.5 * side), at_an_end);
    let is_exact = all(abs(levels - round(levels)) < vec3f(DITHER_EXACT));
    return select((levels + noise) / 255.0, encoded, is_exact);
}
