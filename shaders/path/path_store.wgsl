// Access to the rows of paths (path/path_rows.wgsl). Paths are numbered in the order of the 8 × 8 pixel tiles of a
// slice of rows. The importer binds `paths` and `row_offset`.
#import "frame/frame.wgsl"
#import "path/path_rows.wgsl"

fn path_row_of(v: vec3f, w: f32) -> vec4u {
    return bitcast<vec4u>(vec4f(v, w));
}

fn path_vec3(kind: u32, number: u32) -> vec3f {
    return bitcast<vec3f>(paths[path_row(kind, number)].xyz);
}

// Returns the pixel of a path. In tiles cut off by the picture border, it may lie outside the picture.
fn path_pixel(number: u32) -> vec2u {
    let tiles = (frame.size.x + 7u) / 8u;
    let tile = number / 64u;
    let within = number % 64u;
    return 8u * vec2u(tile % tiles, tile / tiles) + vec2u(within % 8u, within / 8u) + vec2u(0u, row_offset);
}

// Returns the number of paths in the slice that begins at `row_offset`.
fn path_count_of_band() -> u32 {
    let tiles = (frame.size + 7u) / 8u;
    return min(64u * tiles.x * (tiles.y - row_offset / 8u), stage.capacity);
}
