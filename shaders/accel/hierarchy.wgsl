// hierarchy: Karras's radix tree (2012, section 3 and figure 4) over each mesh's sorted codes, all meshes in one dispatch, with both
// children's boxes taken from the pyramid.
//
// in   sorted_codes, triangles (for each place's mesh), meshes, pyramid
// out  nodes[i] for every place i but the last of its mesh
// One thread per place, and so per node: node i is the one that Karras numbers i, so the node's index is one end of its range, and the
// other end lies where the common prefix is longer. Equal codes are told apart by their place.
#import "common/dispatch.wgsl"
#import "common/geometry.wgsl"
#import "common/tree.wgsl"
#import "common/pyramid.wgsl"

@group(0) @binding(4) var<storage, read> meshes: array<MeshRange>;
@group(0) @binding(5) var<storage, read> sorted_codes: array<u32>;
@group(0) @binding(6) var<storage, read> triangles: array<LeafTriangle>;
@group(0) @binding(7) var<storage, read> pyramid: array<f32>;
@group(0) @binding(8) var<storage, read_write> nodes: array<Node>;

// Karras's δ: length of the common prefix of two places' codes; −1 outside the mesh.
fn common_prefix(i: i32, j: i32, first: i32, last: i32) -> i32 {
    if j < first || j > last {
        return -1;
    }
    let difference = sorted_codes[i] ^ sorted_codes[j];
    if difference == 0u {
        return 32 + i32(countLeadingZeros(u32(i ^ j)));
    }
    return i32(countLeadingZeros(difference));
}

@compute @workgroup_size(256)
fn hierarchy(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let place = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if place >= params.triangle_count {
        return;
    }
    let mesh = triangles[place].mesh & ~NEEDS_CONSENT;
    let range = meshes[mesh];
    let first = i32(range.first_triangle);
    let last = first + i32(range.triangle_count) - 1;
    let i = i32(place);
    if i == last {
        return;
    }

    // The other end of the range.
    let direction = select(-1, 1, common_prefix(i, i + 1, first, last) > common_prefix(i, i - 1, first, last));
    let prefix_min = common_prefix(i, i - direction, first, last);
    var length_max = 2;
    while common_prefix(i, i + length_max * direction, first, last) > prefix_min {
        length_max *= 2;
    }
    var length = 0;
    for (var step = length_max / 2; step >= 1; step /= 2) {
        if common_prefix(i, i + (length + step) * direction, first, last) > prefix_min {
            length += step;
        }
    }
    let j = i + length * direction;

    // The split: the last place that shares more with i than j does.
    let prefix_node = common_prefix(i, j, first, last);
    var offset = 0;
    var step = length;
    loop {
        step = (step + 1) / 2;
        if common_prefix(i, i + (offset + step) * direction, first, last) > prefix_node {
            offset += step;
        }
        if step <= 1 {
            break;
        }
    }
    let split = u32(i + offset * direction + min(direction, 0));

    let lower = u32(min(i, j));
    let upper = u32(max(i, j));
    let left = pyramid_range(lower, split);
    let right = pyramid_range(split + 1u, upper);
    nodes[place] = Node(left.lower, lower, left.upper, split, right.lower, upper, right.upper, mesh);
}
