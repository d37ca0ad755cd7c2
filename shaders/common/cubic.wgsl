// Weights of four neighbours, `f` behind the second: the cubics of Keys (1981), whose slope of 0.5 is Catmull and
// Rom's. Steeper ones keep more contrast.
fn cubic_weights(f: f32, slope: f32) -> vec4f {
    let g = 1.0 - f;
    return vec4f(
        -slope * f * g * g,
        1.0 - f * f * (3.0 - slope - (2.0 - slope) * f),
        1.0 - g * g * (3.0 - slope - (2.0 - slope) * g),
        -slope * g * f * f,
    );
}
