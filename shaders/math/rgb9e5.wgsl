// Packs a colour as three mantissas of 9 bits and a shared exponent of five, like EXT_texture_shared_exponent.
fn rgb9e5_pack(color: vec3f) -> u32 {
    let c = clamp(color, vec3f(0.0), vec3f(65408.0));
    let largest = max(c.r, max(c.g, c.b));
    // floor(log2) from the exponent's bits, which is exact.
    var exponent = max(-16, i32(bitcast<u32>(largest) >> 23u) - 127) + 16;
    var scale = exp2(f32(24 - exponent));
    if u32(largest * scale + 0.5) > 511u {
        exponent++;
        scale *= 0.5;
    }
    let m = vec3u(c * scale + 0.5);
    return m.r | (m.g << 9u) | (m.b << 18u) | (u32(exponent) << 27u);
}

fn rgb9e5_unpack(packed: u32) -> vec3f {
    let mantissas = vec3f(vec3u(packed, packed >> 9u, packed >> 18u) & vec3u(511u));
    return mantissas * exp2(f32(packed >> 27u) - 24.0);
}
