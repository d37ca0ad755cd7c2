// Ids of the G-buffer. A triangle has its number in the merged index buffer, plus 1. Points and lines have their number
// in triangle_info, plus 1, with the bit GBUFFER_NO_TRIANGLE. Hits of rays have the bit GBUFFER_HIT, and GBUFFER_BACK
// for a back face.

// Flag for a visible point or line. Rays cannot start there.
const GBUFFER_NO_TRIANGLE = 0x80000000u;
const GBUFFER_HIT = 0x40000000u;
const GBUFFER_BACK = 0x20000000u;

// True if rays can start from the surface with this id. It is neither the background nor a point or a line.
fn gbuffer_is_triangle(id: u32) -> bool {
    return id != 0u && id < GBUFFER_NO_TRIANGLE;
}

// Returns the number of an id's triangle in the merged index buffer.
fn gbuffer_triangle(id: u32) -> u32 {
    return (id & ~(GBUFFER_HIT | GBUFFER_BACK)) - 1u;
}
