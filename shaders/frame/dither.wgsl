// Dithers a picture by noise of one 8-bit level before it is stored. The mean over neighbours then keeps what rounding
// removes, and gradients show no bands.
//
// The noise has a triangular distribution, so that the error does not depend on the colour (Wannamaker et al. 2000).
// Near the ends of the range it is uniform over one level. The noise is fixed per pixel, so still pictures stay still.
// Colours that 8 bits represent exactly, for example colours from a file, are stored unchanged.

// Distance in levels within which a colour counts as exact. It covers the rounding of half floats.
const DITHER_EXACT = 0.0625;

// Returns a number in [0, 1) per pixel, evenly distributed over any few neighbours. It uses multiples of the golden
// ratio along rows, which are the most even, and of the plastic number from row to row.
fn dither_number(pixel: vec2u) -> f32 {
    // 2³² / φ of the golden ratio, and 2³² / ρ of the plastic number.
    return f32((pixel.x * 2654435769u + pixel.y * 3242174889u) >> 8u) / 16777216.0;
}

// Dithers an sRGB-encoded colour. The caller rounds the result.
fn dither(encoded: vec3f, pixel: vec2u) -> vec3f {
    let levels = 255.0 * encoded;
    let side = 2.0 * dither_number(pixel) - 1.0;
    let triangular = sign(side) * (1.0 - sqrt(1.0 - abs(side)));
    let at_an_end = (levels < vec3f(0.5)) | (levels > vec3f(254.5));
    let noise = select(vec3f(triangular), vec3f(0.5 * side), at_an_end);
    let is_exact = all(abs(levels - round(levels)) < vec3f(DITHER_EXACT));
    return select((levels + noise) / 255.0, encoded, is_exact);
}
