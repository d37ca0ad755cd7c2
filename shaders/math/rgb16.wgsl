// HDR colours in 54 bits: three mantissas of 16 bits and a shared exponent of six. Ten bits are free for other data.

fn rgb16_pack(color: vec3f, rest: u32) -> vec2u {
    let c = max(color, vec3f(0.0));
    let largest = max(c.r, max(c.g, c.b));
    // floor(log2) from the exponent's bits, which is exact.
    let exponent = u32(clamp(i32(bitcast<u32>(largest) >> 23u) - 127 + 33, 0, 63));
    let scale = bitcast<f32>((48u - exponent + 127u) << 23u);
    let m = vec3u(min(c * scale + 0.5, vec3f(65535.0)));
    return vec2u(m.r | (m.g << 16u), m.b | (exponent << 16u) | (rest << 22u));
}

fn rgb16_unpack(words: vec2u) -> vec3f {
    let mantissas = vec3f(vec3u(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu));
    let exponent = (words.y >> 16u) & 63u;
    return mantissas * bitcast<f32>((exponent + 127u - 48u) << 23u);
}

fn rgb16_rest(words: vec2u) -> u32 {
    return words.y >> 22u;
}

// Returns the second word with other data in its free bits.
fn rgb16_with_rest(word: u32, rest: u32) -> u32 {
    return (word & 0x3fffffu) | (rest << 22u);
}
