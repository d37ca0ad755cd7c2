// hierarchy_across: makes the nodes that extend beyond their block of hierarchy.wgsl.
//
// in   positions of those nodes, order, code_words, leaf_rows, the pyramid
// out  nodes[i] and their area, for those with more leaves than the cutoff
// Only a handful of a block's BLOCK nodes extend further. They are latency-bound, waiting for one load after another,
// so each gets a thread of its own while there are enough threads.
#import "bvh/dispatch.wgsl"
#import "bvh/build/pyramid_levels.wgsl"
#import "bvh/build/radix_tree.wgsl"
#import "bvh/sorted.wgsl"

#array read 0 1 leaf_rows: vec4u
#array write 0 2 node_rows: vec4u

fn code_at(k: u32) -> vec2u {
    return sorted_item(k).code;
}

// Returns the box of 2^level positions.
fn pyramid_load(level: u32, index: u32) -> Box {
    if level >= PYRAMID_FIRST_LEVEL {
        return pyramid_kept(level, index);
    }
    var b = box_empty();
    for (var i = index << level; i < (index + 1u) << level; i++) {
        let row = TRIANGLE_ROWS * (i + leaf_shift);
        b = box_union(b, leaf_box(leaf_rows(row), leaf_rows(row + 1u), leaf_rows(row + 2u)));
    }
    return b;
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

@compute @workgroup_size(ACROSS_THREADS)
fn hierarchy_across(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let block_threads = select(32u, 8u, params.item_count > ACROSS_MANY);
    let item = dispatch_workgroup(workgroup, workgroups) * ACROSS_THREADS + thread;
    let block = item / block_threads;
    if block * BLOCK >= params.item_count {
        return;
    }
    let count = scratch[params.across_word + block];
    for (var i = item % block_threads; i < count; i += block_threads) {
        let k = scratch[params.list_word + BLOCK * block + i];
        let mesh = sorted_item(k).mesh;
        let span = mesh_span(mesh);
        leaf_shift = span.shift;
        let first = i32(span.first);
        let range = node_range(i32(k), first, first + i32(span.count) - 1);
        if node_is_made(range, mesh) {
            let whole = Child(box_empty(), range.x + leaf_shift, range.y + leaf_shift, 0u, 0u);
            node_make(k + leaf_shift, whole, mesh);
        }
    }
}
