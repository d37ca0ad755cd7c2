// Mesa's software adapter (lavapipe 22) compiles a shader anew where its branches and loops depend on uniforms alone, for the values that
// they have in a draw or a dispatch, and keeps every one. Where such a condition takes in a number that is no uniform, it leaves that alone.

// 0 for any number that is not negative.
fn unseen_zero(number: f32) -> u32 {
    return bitcast<u32>(number) >> 31u;
}
