// What rgba16float takes without rounding, down to 2^-14: drivers may cut off, which over the levels of a cube would lose a thousandth of the light.

// To the nearest of 11 bits, to even ones in the middle between two.
fn half_float_round(value: vec4f) -> vec4f {
    let bits = bitcast<vec4u>(value);
    let odd = (bits >> vec4u(13u)) & vec4u(1u);
    return bitcast<vec4f>((bits + 0xfffu + odd) & vec4u(0xffffe000u));
}
