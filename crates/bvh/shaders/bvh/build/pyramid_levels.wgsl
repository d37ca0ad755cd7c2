// Pyramid of boxes over sorted items. Box j of level k covers the positions j·2^k … (j+1)·2^k − 1. Levels from
// PYRAMID_FIRST_LEVEL on are stored in `scratch` (bvh/sorted.wgsl), six floats per box. The includer declares
// `scratch`.
#import "bvh/geometry.wgsl"

// Returns the number of boxes on a level.
fn pyramid_size(level: u32) -> u32 {
    return (params.item_count + (1u << level) - 1u) >> level;
}

fn pyramid_word(level: u32, index: u32) -> u32 {
    return params.level_word + 6u * (params.level_offset[level / 4u][level % 4u] + index);
}

fn pyramid_kept(level: u32, index: u32) -> Box {
    let at = pyramid_word(level, index);
    return Box(
        bitcast<vec3f>(vec3u(scratch[at], scratch[at + 1u], scratch[at + 2u])),
        bitcast<vec3f>(vec3u(scratch[at + 3u], scratch[at + 4u], scratch[at + 5u])),
    );
}

// Stores a box. The level with one box is the last, so boxes above it are dropped.
fn pyramid_keep(level: u32, index: u32, b: Box) {
    if index >= pyramid_size(level) || pyramid_size(level - 1u) == 1u {
        return;
    }
    let at = pyramid_word(level, index);
    for (var axis = 0u; axis < 3u; axis++) {
        scratch[at + axis] = bitcast<u32>(b.lower[axis]);
        scratch[at + 3u + axis] = bitcast<u32>(b.upper[axis]);
    }
}
