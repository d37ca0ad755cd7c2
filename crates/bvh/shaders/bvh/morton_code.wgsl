// Morton codes (Karras 2012, section 4): the interleaved bits of a cell's three coordinates, with x highest.

// Spreads the ten lowest bits, with two zero bits between neighbours.
fn spread(x: vec3u) -> vec3u {
    var v = x & vec3u(1023u);
    v = (v | (v << vec3u(16u))) & vec3u(0x030000ffu);
    v = (v | (v << vec3u(8u))) & vec3u(0x0300f00fu);
    v = (v | (v << vec3u(4u))) & vec3u(0x030c30c3u);
    return (v | (v << vec3u(2u))) & vec3u(0x09249249u);
}

fn interleave(cell: vec3u) -> u32 {
    let s = spread(cell);
    return (s.x << 2u) | (s.y << 1u) | s.z;
}

// Returns the cell of a point in a grid of `cells` per axis.
fn quantise(p: vec3f, around: Box, cells: f32) -> vec3u {
    let extent = around.upper - around.lower;
    let scale = select(vec3f(cells) / extent, vec3f(0.0), extent < vec3f(1.0e-30));
    return min(vec3u((p - around.lower) * scale), vec3u(u32(cells) - 1u));
}

// Returns the code of a cell, high word first: up to 10 bits per axis in the high word only, or 63 bits in two words.
fn morton_code(cell: vec3u, wide: bool) -> vec2u {
    let low = interleave(cell);
    let middle = interleave(cell >> vec3u(10u));
    let top = interleave(cell >> vec3u(20u));
    return select(vec2u(low, 0u), vec2u((top << 28u) | (middle >> 2u), (middle << 30u) | low), wide);
}

// Returns the key of the first sort. For a wide code it is the low word. Otherwise it is the code, with the low bits of
// the mesh index in the free bits above it.
fn morton_key(code: vec2u, mesh: u32, axis_bits: u32) -> u32 {
    return select(code.x | (mesh << (3u * axis_bits)), code.y, axis_bits > 10u);
}
