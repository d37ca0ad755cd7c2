// Bit mask over 64 levels of a tree.

// Returns the bits of the levels above `level`.
fn lab_above(level: u32) -> vec2u {
    let low = select((1u << (level & 31u)) - 1u, 0xffffffffu, level >= 32u);
    let high = select(0u, (1u << (level & 31u)) - 1u, level >= 32u);
    return vec2u(low, high);
}

fn lab_bit(level: u32) -> vec2u {
    let bit = 1u << (level & 31u);
    return select(vec2u(bit, 0u), vec2u(0u, bit), level >= 32u);
}

// Returns the deepest level whose bit is set; BVH_MISS if there is none.
fn lab_deepest(bits: vec2u) -> u32 {
    if bits.y != 0u {
        return 32u + firstLeadingBit(bits.y);
    }
    return select(BVH_MISS, firstLeadingBit(bits.x), bits.x != 0u);
}
