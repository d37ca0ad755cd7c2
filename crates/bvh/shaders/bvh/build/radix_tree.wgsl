// Karras's radix tree (2012, section 3 and figure 4) over the sorted codes of a mesh. Node i is Karras's node i, so its
// index is one end of its range. The other end lies in the direction of the longer common prefix. Leaf indices break
// ties between equal codes.
//
// The includer defines `code_at(k: u32) -> vec2u`, the code at a position of the sorted items, and `pyramid_load(level:
// u32, index: u32) -> Box`, the box of 2^level positions.
#import "bvh/node.wgsl"

// Offset from positions to leaves, for this thread's mesh.
var<private> leaf_shift: u32;

// Karras's δ: returns the length of the common prefix of the codes at i and j, given the code at i. Returns −1 if j is
// outside first … last.
fn common_prefix(i: i32, code: vec2u, j: i32, first: i32, last: i32) -> i32 {
    if j < first || j > last {
        return -1;
    }
    let difference = code ^ code_at(u32(j));
    if difference.x != 0u {
        return i32(countLeadingZeros(difference.x));
    }
    if difference.y != 0u {
        return 32 + i32(countLeadingZeros(difference.y));
    }
    return 64 + i32(countLeadingZeros((u32(i) + leaf_shift) ^ (u32(j) + leaf_shift)));
}

// Returns the first and last position of node i.
fn node_range(i: i32, first: i32, last: i32) -> vec2u {
    let code = code_at(u32(i));
    let to_right = common_prefix(i, code, i + 1, first, last);
    let to_left = common_prefix(i, code, i - 1, first, last);
    let direction = select(-1, 1, to_right > to_left);
    let prefix_min = min(to_left, to_right);
    var length_max = 2;
    while common_prefix(i, code, i + length_max * direction, first, last) > prefix_min {
        length_max *= 2;
    }
    var length = 0;
    for (var step = length_max / 2; step >= 1; step /= 2) {
        if common_prefix(i, code, i + (length + step) * direction, first, last) > prefix_min {
            length += step;
        }
    }
    let j = i + length * direction;
    return vec2u(u32(min(i, j)), u32(max(i, j)));
}

// Returns the last position whose common prefix with the first position is longer than the common prefix of the range.
fn split_of(first: i32, last: i32) -> i32 {
    let code = code_at(u32(first));
    let prefix = common_prefix(first, code, last, first, last);
    var split = first;
    var step = last - first;
    loop {
        step = (step + 1) / 2;
        if common_prefix(first, code, split + step, first, last) > prefix {
            split += step;
        }
        if step <= 1 {
            break;
        }
    }
    return split;
}

// Returns the bounds of the positions first..end from at most two boxes per level.
fn pyramid_range(first: u32, end: u32) -> Box {
    var b = box_empty();
    var left = first;
    var right = end;
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

fn node_children(whole: Child) -> Pair {
    let first = whole.first - leaf_shift;
    let last = whole.last - leaf_shift;
    let middle = u32(split_of(i32(first), i32(last))) + 1u;
    return Pair(
        Child(pyramid_range(first, middle), whole.first, middle - 1u + leaf_shift, 0u, 0u),
        Child(pyramid_range(middle, last + 1u), middle + leaf_shift, whole.last, 1u, 0u),
    );
}

// True if the node over the positions `range` has more leaves than the cutoff.
fn node_is_made(range: vec2u, mesh: u32) -> bool {
    return range.y - range.x >= node_cutoff(mesh);
}

// Makes the node with index k (as a position), over the positions `range`.
fn node_make_range(k: u32, range: vec2u, mesh: u32) {
    let whole = Child(box_empty(), range.x + leaf_shift, range.y + leaf_shift, 0u, 0u);
    node_make(k + leaf_shift, whole, mesh);
}
