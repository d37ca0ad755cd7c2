// Returns the weights of four neighbours for a point at the fraction `f` between the second and the third: the cubic of
// Keys (1981). A slope of 0.5 is Catmull-Rom. Steeper ones keep more contrast.
fn cubic_weights(f: f32, slope: f32) -> vec4f {
    let g = 1.0 - f;
    return vec4f(
        -slope * f * g * g,
        1.0 - f * f * (3.0 - slope - (2.0 - slope) * f),
        1.0 - g * g * (3.0 - slope - (2.0 - slope) * g),
        -slope * g * f * f,
    );
}

// Returns positions (xy) and weights (z) of five bilinear taps that replace the nine of the cubic at `at`, in pixels.
// Positions are fractions of an image of `size` pixels. The corners are left out, since their weights are small. The
// weights do not add up to 1.
fn cubic_taps(at: vec2f, size: vec2f, slope: f32) -> array<vec3f, 5> {
    let middle = floor(at - 0.5) + 0.5;
    let f = at - middle;
    let x = cubic_weights(f.x, slope);
    let y = cubic_weights(f.y, slope);
    let before = vec2f(x[0], y[0]);
    let second = vec2f(x[2], y[2]);
    let after = vec2f(x[3], y[3]);
    let inner = vec2f(x[1], y[1]) + second;
    let inner_at = (middle + second / inner) / size;
    let before_at = (middle - 1.0) / size;
    let after_at = (middle + 2.0) / size;
    return array(
        vec3f(inner_at, inner.x * inner.y),
        vec3f(before_at.x, inner_at.y, before.x * inner.y),
        vec3f(after_at.x, inner_at.y, after.x * inner.y),
        vec3f(inner_at.x, before_at.y, inner.x * before.y),
        vec3f(inner_at.x, after_at.y, inner.x * after.y),
    );
}
