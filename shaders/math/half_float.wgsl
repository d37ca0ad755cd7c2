// Rounding to values that rgba16float holds exactly, down to 2^-14. Drivers may truncate instead, which would lose a
// thousandth of the light over the levels of a cube.

// Rounds to the nearest value of 11 significant bits, ties to even.
fn half_float_round(value: vec4f) -> vec4f {
    let bits = bitcast<vec4u>(value);
    let odd = (bits >> vec4u(13u)) & vec4u(1u);
    return bitcast<vec4f>((bits + 0xfffu + odd) & vec4u(0xffffe000u));
}
