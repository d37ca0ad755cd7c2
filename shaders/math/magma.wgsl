// Colour map magma, sRGB-encoded, the same as in output::magma (van der Walt and Smith 2015). Its lightness rises
// monotonically, and it is readable with all kinds of colour vision.

const MAGMA = array<vec3f, 17>(
    vec3f(0.0, 0.0, 4.0),
    vec3f(10.0, 8.0, 34.0),
    vec3f(29.0, 17.0, 70.0),
    vec3f(54.0, 16.0, 106.0),
    vec3f(80.0, 18.0, 124.0),
    vec3f(105.0, 28.0, 129.0),
    vec3f(130.0, 38.0, 129.0),
    vec3f(156.0, 46.0, 127.0),
    vec3f(182.0, 55.0, 121.0),
    vec3f(207.0, 65.0, 112.0),
    vec3f(230.0, 81.0, 99.0),
    vec3f(245.0, 105.0, 92.0),
    vec3f(251.0, 135.0, 97.0),
    vec3f(254.0, 165.0, 113.0),
    vec3f(254.0, 195.0, 135.0),
    vec3f(253.0, 224.0, 162.0),
    vec3f(252.0, 253.0, 191.0),
);

// Returns the colour of a value from 0 to 1, clamped to this range.
fn magma(share: f32) -> vec3f {
    let colors = MAGMA;
    let at = 16.0 * saturate(share);
    let step = min(u32(at), 15u);
    return mix(colors[step], colors[step + 1u], at - f32(step)) / 255.0;
}
