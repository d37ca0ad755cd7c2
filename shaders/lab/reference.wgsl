// References: what a walk goes on to. A node's number; or, with the highest bit, up to eight triangles:
// three bits of their number less one, then the first of them; or BVH_MISS.

fn lab_is_leaf(reference: u32) -> bool {
    return (reference >> 31u) == 1u;
}

// The triangles of a leaf: the first, and the one behind the last.
fn lab_leaf(reference: u32) -> vec2u {
    let first = reference & 0x0fffffffu;
    return vec2u(first, first + ((reference >> 28u) & 7u) + 1u);
}
