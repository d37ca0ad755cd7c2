// Axis-aligned boxes. The empty box is the identity of box_union and is never hit.

struct Box {
    lower: vec3f,
    upper: vec3f,
}

fn box_empty() -> Box {
    return Box(vec3f(EMPTY_BOX_EXTENT), vec3f(-EMPTY_BOX_EXTENT));
}

fn box_union(a: Box, b: Box) -> Box {
    return Box(min(a.lower, b.lower), max(a.upper, b.upper));
}

// Returns the sum of the box's three extents, 0 for the empty box. Unlike the surface area, it has no products that a
// compiler may fuse.
fn box_half_perimeter(b: Box) -> f32 {
    let extent = b.upper - b.lower;
    return max(extent.x + extent.y + extent.z, 0.0);
}

// True if a tree can hold the coordinates: their magnitudes are below 2^50, so that products of extents stay finite.
// Tests the exponent bits, because a compiler may assume that floats are never NaN.
fn box_coordinates_valid(p: vec3f) -> bool {
    let exponent = bitcast<vec3u>(p) & vec3u(0x7f800000u);
    return all(exponent < vec3u((127u + 50u) << 23u));
}
