// Catmull and Rom's weights of four neighbours, `f` behind the second.
fn cubic_weights(f: f32) -> vec4f {
    return vec4f(
        f * (-0.5 + f * (1.0 - 0.5 * f)),
        1.0 + f * f * (-2.5 + 1.5 * f),
        f * (0.5 + f * (2.0 - 1.5 * f)),
        f * f * (-0.5 + 0.5 * f),
    );
}
