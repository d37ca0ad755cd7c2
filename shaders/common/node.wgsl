// Making nodes of four children: a binary radix tree's levels are joined two by two. A level's digit is half of
// δ, the length of the common prefix of a node's leaves. A binary node of the same digit as its parent's is part
// of the parent's node of four; the others have a node of their own, with its binary node's number.
//
// Children 0 and 1 are the left child of the binary node, or its two children where it is part of the node; 2
// and 3 the right one. Where a child is not parted, child 0 or 3 has all of it, so that a binary left child has an
// even number here and a right one an odd one: their numbers follow (Karras 2012, section 3).
//
// The includer declares `node_rows` to write to.
#import "common/box.wgsl"
#import "common/tree.wgsl"

fn node_digit(prefix: i32) -> i32 {
    return prefix >> 1u;
}

// The corners of four boxes along one axis on a grid, packed: never inside of what they stand for.
fn node_axis(lower: vec4f, upper: vec4f, origin: f32, exponent: u32) -> vec2u {
    // The step's inverse, which is a power of two as well: products with it are exact.
    let per_step = bitcast<f32>((254u - exponent) << 23u);
    let low = clamp(floor((lower - origin) * per_step - NODE_SLACK), vec4f(0.0), vec4f(255.0));
    let high = clamp(ceil((upper - origin) * per_step + NODE_SLACK), vec4f(0.0), vec4f(255.0));
    let is_empty = lower > upper;
    return vec2u(
        pack4xU8(select(vec4u(low), vec4u(255u), is_empty)),
        pack4xU8(select(vec4u(high), vec4u(0u), is_empty)),
    );
}

fn node_write(index: u32, a: Box, b: Box, c: Box, d: Box, first: u32, ends: vec4u, mesh: u32) {
    var around = box_union(box_union(a, b), box_union(c, d));
    if around.lower.x > around.upper.x {
        around = Box(vec3f(0.0), vec3f(0.0));
    }
    let largest = max(abs(around.lower), abs(around.upper));
    let share = (around.upper - around.lower) * NODE_STEP_SHARE;
    let step = max(max(share, largest * NODE_STEP_LEAST), vec3f(NODE_STEP_TINY));
    // Up to the next power of two.
    let exponents = (bitcast<vec3u>(step) + vec3u(0x7fffffu)) >> vec3u(23u);
    // A step below the box, so that its lower side has slack as well.
    let origin = around.lower - bitcast<vec3f>(exponents << vec3u(23u));
    let x = node_axis(
        vec4f(a.lower.x, b.lower.x, c.lower.x, d.lower.x),
        vec4f(a.upper.x, b.upper.x, c.upper.x, d.upper.x),
        origin.x,
        exponents.x,
    );
    let y = node_axis(
        vec4f(a.lower.y, b.lower.y, c.lower.y, d.lower.y),
        vec4f(a.upper.y, b.upper.y, c.upper.y, d.upper.y),
        origin.y,
        exponents.y,
    );
    let z = node_axis(
        vec4f(a.lower.z, b.lower.z, c.lower.z, d.lower.z),
        vec4f(a.upper.z, b.upper.z, c.upper.z, d.upper.z),
        origin.z,
        exponents.z,
    );
    let packed = exponents.x | (exponents.y << 8u) | (exponents.z << 16u);
    node_rows(NODE_ROWS * index, tree_row(origin, packed));
    node_rows(NODE_ROWS * index + 1u, vec4u(x.x, y.x, z.x, first));
    node_rows(NODE_ROWS * index + 2u, vec4u(x.y, y.y, z.y, mesh));
    node_rows(NODE_ROWS * index + 3u, ends);
}
