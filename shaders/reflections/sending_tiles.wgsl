// List of the tiles of 8 × 8 pixels that cast reflection rays at the first bounce.

struct SendingTiles {
    // Workgroup counts of an indirect dispatch with one workgroup per tile.
    groups: vec3u,
    count: u32,
    // Tile column in the lower 16 bits, row above.
    tiles: array<u32>,
}
