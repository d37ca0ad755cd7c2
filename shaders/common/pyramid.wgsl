// The pyramid of boxes over the leaves: box j of level k covers the leaves j·2^k … (j+1)·2^k − 1. The lowest
// level is the leaves themselves. The includer declares `pyramid: array<f32>`, six floats a box from level 1
// on, and `leaf_rows`; `params` (common/geometry.wgsl) knows where each level begins.
#import "common/tree.wgsl"

fn pyramid_word(level: u32, index: u32) -> u32 {
    return 6u * (params.level_offset[level / 4u][level % 4u] + index);
}

fn pyramid_load(level: u32, index: u32) -> Box {
    if level == 0u {
        let a = bitcast<vec3f>(leaf_rows(TRIANGLE_ROWS * index).xyz);
        let b = bitcast<vec3f>(leaf_rows(TRIANGLE_ROWS * index + 1u).xyz);
        let c = bitcast<vec3f>(leaf_rows(TRIANGLE_ROWS * index + 2u).xyz);
        if a.x == BOX_FAR {
            return box_empty();
        }
        return Box(min(a, min(b, c)), max(a, max(b, c)));
    }
    let at = pyramid_word(level, index);
    return Box(
        vec3f(pyramid[at], pyramid[at + 1u], pyramid[at + 2u]),
        vec3f(pyramid[at + 3u], pyramid[at + 4u], pyramid[at + 5u]),
    );
}
