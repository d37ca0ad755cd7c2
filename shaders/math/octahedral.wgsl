// Octahedral encoding of unit vectors in 2 × 16 bits (Cigolle et al. 2014, "Survey of Efficient Representations for
// Independent Unit Vectors").

fn octahedral_signs(v: vec2f) -> vec2f {
    return select(vec2f(-1.0), vec2f(1.0), v >= vec2f(0.0));
}

fn octahedral_pack(n: vec3f) -> u32 {
    let p = n.xy / max(abs(n.x) + abs(n.y) + abs(n.z), 1.0e-20);
    return pack2x16snorm(select((1.0 - abs(p.yx)) * octahedral_signs(p), p, n.z >= 0.0));
}

fn octahedral_unpack(packed: u32) -> vec3f {
    let p = unpack2x16snorm(packed);
    let z = 1.0 - abs(p.x) - abs(p.y);
    let folded = (1.0 - abs(p.yx)) * octahedral_signs(p);
    return normalize(vec3f(select(folded, p, z >= 0.0), z));
}

// Packs a unit vector in the same encoding with 2 × 11 bits. The upper ten bits are 0.
fn octahedral_pack_22(n: vec3f) -> u32 {
    let p = n.xy / max(abs(n.x) + abs(n.y) + abs(n.z), 1.0e-20);
    let folded = select((1.0 - abs(p.yx)) * octahedral_signs(p), p, n.z >= 0.0);
    let levels = vec2u(round(clamp(folded, vec2f(-1.0), vec2f(1.0)) * 1023.0 + 1023.0));
    return levels.x | (levels.y << 11u);
}

fn octahedral_unpack_22(packed: u32) -> vec3f {
    let p = vec2f(vec2u(packed, packed >> 11u) & vec2u(2047u)) / 1023.0 - 1.0;
    let z = 1.0 - abs(p.x) - abs(p.y);
    let folded = (1.0 - abs(p.yx)) * octahedral_signs(p);
    return normalize(vec3f(select(folded, p, z >= 0.0), z));
}
