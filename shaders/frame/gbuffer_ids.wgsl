// The ids of the G-buffer: number of the triangle in the merged index buffer, plus 1. Points and lines are no
// triangles: theirs is the number in triangle_info, plus 1, with the bit GBUFFER_NO_TRIANGLE. What a ray has hit has
// the bit GBUFFER_HIT, and GBUFFER_BACK where the ray sees its back.

// Set in ids where a point or a line is visible: no ray starts there.
const GBUFFER_NO_TRIANGLE = 0x80000000u;
const GBUFFER_HIT = 0x40000000u;
const GBUFFER_BACK = 0x20000000u;

// Whether rays can start from the surface with this id: it is neither the background nor a point or a line.
fn gbuffer_is_triangle(id: u32) -> bool {
    return id != 0u && id < GBUFFER_NO_TRIANGLE;
}

// The triangle of such a surface.
fn gbuffer_triangle(id: u32) -> u32 {
    return (id & ~(GBUFFER_HIT | GBUFFER_BACK)) - 1u;
}
