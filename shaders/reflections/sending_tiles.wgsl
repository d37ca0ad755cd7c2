// The tiles of 8 × 8 pixels that send reflection rays at the first bounce.

struct SendingTiles {
    // Workgroups of an indirect dispatch that has one for each.
    groups: vec3u,
    count: u32,
    // Column in the lower 16 bits, row above.
    tiles: array<u32>,
}
