// References, the links that a walk follows. A reference is a node's number. With the highest bit set, it holds up to
// eight triangles: their number minus one in three bits, then the first of them. BVH_MISS is no reference.

fn lab_is_leaf(reference: u32) -> bool {
    return (reference >> 31u) == 1u;
}

// Returns the triangle range of a leaf: the first triangle, and the one after the last.
fn lab_leaf(reference: u32) -> vec2u {
    let first = reference & 0x0fffffffu;
    return vec2u(first, first + ((reference >> 28u) & 7u) + 1u);
}
