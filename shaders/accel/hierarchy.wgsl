// hierarchy: Karras's radix tree (2012, section 3 and figure 4) over each mesh's sorted codes, and over the
// meshes, all in one dispatch, as nodes of four children (common/node.wgsl) with boxes from the pyramid.
//
// in   sorted_codes, leaf_rows (for each leaf's mesh), meshes, pyramid, codes (for the leaves of a partial
//      build)
// out  nodes[i] and node_areas[i] for every binary node i of more leaves than the cutoff; the area −1 for
//      others
// One thread per leaf, and so per binary node: node i is the one that Karras numbers i, so its index is one
// end of its range, and the other end lies where the common prefix is longer. Equal codes are told apart by
// their leaf index.
#import "common/dispatch.wgsl"
#import "common/geometry.wgsl"
#import "common/node.wgsl"
#import "common/pyramid.wgsl"

@group(0) @binding(1) var<storage, read> meshes: array<MeshRange>;
#array read 0 2 sorted_codes: vec2u
#array read 0 3 leaf_rows: vec4u
@group(0) @binding(4) var<storage, read> pyramid: array<f32>;
#array write 0 5 node_rows: vec4u
#array read 0 6 codes: vec4u
#array write 0 7 node_areas: u32

// Karras's δ: length of the common prefix of the codes at i and j, of which the one at i is at hand; −1
// outside the mesh.
fn common_prefix(i: i32, code: vec2u, j: i32, first: i32, last: i32) -> i32 {
    if j < first || j > last {
        return -1;
    }
    let difference = code ^ sorted_codes(u32(j));
    if difference.x != 0u {
        return i32(countLeadingZeros(difference.x));
    }
    if difference.y != 0u {
        return 32 + i32(countLeadingZeros(difference.y));
    }
    return 64 + i32(countLeadingZeros(u32(i ^ j)));
}

// The last of the leaves that shares more with the first one than the last one does.
fn split_of(first: i32, last: i32) -> i32 {
    let code = sorted_codes(u32(first));
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

// Around the leaves from `first` to before `end`: at most two boxes a level.
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
    let split = u32(split_of(i32(whole.first), i32(whole.last)));
    return Pair(
        Child(pyramid_range(whole.first, split + 1u), whole.first, split, 0u),
        Child(pyramid_range(split + 1u, whole.last + 1u), split + 1u, whole.last, 1u),
    );
}

@compute @workgroup_size(256)
fn hierarchy(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let k = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if k >= params.item_count {
        return;
    }
    var leaf = k;
    if params.all_items == 0u {
        leaf = codes(k).z;
    }
    // The TLAS: its leaves lie behind all triangles.
    var mesh = params.mesh_count;
    var range = MeshRange(params.triangle_count, params.mesh_count, 0u);
    if leaf < params.triangle_count {
        mesh = leaf_rows(TRIANGLE_ROWS * leaf + 2u).w & ~ANY_HIT_TEST;
        range = meshes[mesh];
    }
    let first = i32(range.first_triangle);
    let last = first + i32(range.triangle_count) - 1;
    let i = i32(leaf);
    node_areas(leaf, bitcast<u32>(-1.0));
    if i == last {
        return;
    }
    let code = sorted_codes(leaf);

    // The other end of the range.
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

    let lower = u32(min(i, j));
    let upper = u32(max(i, j));
    if upper - lower >= node_cutoff(mesh) {
        node_make(leaf, Child(box_empty(), lower, upper, 0u), mesh);
    }
}
