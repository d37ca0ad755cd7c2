// List of shadow rays of one batch. An entry packs a pixel in 24 bits, a slot in 7 bits (shadow/chosen_lights.wgsl),
// and a flag for edges that get more rays. Pixel and slot are relative to the first pixel and slot of the batch. Entry
// i is texel i of the list, in row order.

struct RayBatch {
    row_offset: u32,
    first_slot: u32,
    slot_count: u32,
}

fn ray_list_pack(pixel: u32, slot: u32, is_edge: bool) -> u32 {
    return pixel | (slot << 24u) | select(0u, 0x80000000u, is_edge);
}

// Returns the pixel of an entry of the reflections' lists. The column is in the lower 16 bits, the row above.
fn ray_list_pixel(entry: u32) -> vec2u {
    return vec2u(entry & 0xffffu, entry >> 16u);
}

fn ray_list_texel(entry: u32) -> vec2u {
    return vec2u(entry % RAY_LIST_WIDTH, entry / RAY_LIST_WIDTH);
}
