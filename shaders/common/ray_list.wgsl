// The list of shadow rays of one batch. An entry packs a pixel, counted from the batch's first one (24 bits),
// and a slot (8 bits; common/chosen_lights.wgsl). Entry i is texel i of the list, row by row.

struct RayBatch {
    first_row: u32,
    first_slot: u32,
    slot_count: u32,
}

// The pixel of an entry that has its column in the lower 16 bits.
fn ray_list_pixel(entry: u32) -> vec2u {
    return vec2u(entry & 0xffffu, entry >> 16u);
}

fn ray_list_texel(entry: u32) -> vec2u {
    return vec2u(entry % RAY_LIST_WIDTH, entry / RAY_LIST_WIDTH);
}
