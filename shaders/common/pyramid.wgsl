// The pyramid of boxes over the leaves: box j of level k covers the leaves j·2^k … (j+1)·2^k − 1. The includer declares
// `pyramid: array<f32>`, six floats a box; `params` (common/geometry.wgsl) knows where each level begins.

fn pyramid_word(level: u32, index: u32) -> u32 {
    return 6u * (params.level_offset[level / 4u][level % 4u] + index);
}

fn pyramid_load(level: u32, index: u32) -> Box {
    let at = pyramid_word(level, index);
    return Box(
        vec3f(pyramid[at], pyramid[at + 1u], pyramid[at + 2u]),
        vec3f(pyramid[at + 3u], pyramid[at + 4u], pyramid[at + 5u]),
    );
}

// The box around the leaves first..=last: at most two boxes a level.
fn pyramid_range(first: u32, last: u32) -> Box {
    var b = box_empty();
    var left = first;
    var right = last + 1u;
    for (var level = 0u; left < right; level++) {
        if (left & 1u) != 0u {
            b = box_union(b, pyramid_load(level, left));
            left++;
        }
        if (right & 1u) != 0u {
            right--;
            b = box_union(b, pyramid_load(level, right));
        }
        left >>= 1u;
        right >>= 1u;
    }
    return b;
}
