// Karras's radix tree (2012, section 3 and figure 4) over the sorted codes of a mesh. Node i is Karras's node i, so its
// index is one end of its range. The other end lies in the direction of the longer common prefix. Leaf indices break
// ties between equal codes.
//
// The includer defines `code_at(k: u32) -> vec2u`, the code at a position of the sorted items.
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
    // Codes without records have one word.
    if HAS_RECORDS && difference.y != 0u {
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

// True if the node over the positions `range` has more leaves than the cutoff.
fn node_is_made(range: vec2u, mesh: u32) -> bool {
    return range.y - range.x >= node_cutoff(mesh);
}
