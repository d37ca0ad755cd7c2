// hierarchy_serial: builds binary nodes on software adapters, in time linear in the leaves and without barriers.
//
// serial_leaves  in   positions, indices, triangle_info, order, code_words
//                out  leaf_rows; a binary node for every range of triangles that lies within the run; segments
// serial_meshes  the same outputs for the leaves of the TLAS, from tlas; its runs follow those over triangles. It is a
//                separate entry point, because llvmpipe executes both sides of a branch.
// serial_nodes   in   segments of SERIAL_FAN runs
//                out  the binary nodes that join them; segments
// The radix tree over sorted codes is the Cartesian tree of the common prefixes δ of neighbours: a node is split where
// its δ is least (Apetrei 2014, section 3). A stack builds it from left to right. A binary node is four rows. Two hold
// its left child's box, its leaf count (0 if that is at most the cutoff) and its first leaf. The next two hold its
// right child's box, the last leaf of the left child, and its mesh.
// Each thread joins a run of SERIAL_RUN leaves, or the segments of SERIAL_FAN runs. Subtrees whose parent extends
// beyond the run are left as segments for the next dispatch: a range of leaves with its box and the δ at its right end.
// δ falls along segments whose parent lies to the left, and rises along segments whose parent lies to the right, so
// there are at most SERIAL_SEGMENTS. Nodes get Karras's indices (2012, section 3): a left child the index of its last
// leaf, any other node the index of its first leaf.
#import "bvh/dispatch.wgsl"
#import "bvh/leaf.wgsl"
#import "bvh/sorted.wgsl"

// x: number of runs. y: number of runs over triangles.
@group(0) @binding(1) var<uniform> runs: vec2u;
#array write 0 2 binary_rows: vec4u
// Segments have three rows, and each run has room for SERIAL_SEGMENTS. counts_out is the number of segments per run.
#array write 0 3 segments_out: vec4u
#array write 0 4 counts_out: u32
// Bindings of serial_leaves and serial_meshes.
#array write 0 5 leaf_rows: vec4u
@group(0) @binding(6) var<storage, read> tlas: array<TlasEntry>;
// Bindings of serial_nodes.
#array read 0 5 segments_in: vec4u
#array read 0 6 counts_in: u32

// Stack of each thread, without its top segment, which is in `top_…`. A segment has two rows, (lower, first leaf) and
// (upper, δ at its right end). The threads' stacks are interleaved in workgroup memory, because llvmpipe takes 15
// seconds to compile the zero-initialisation of private arrays.
var<workgroup> stack: array<vec4u, 2u * SERIAL_STACK * SERIAL_THREADS>;
var<private> stack_lane: u32;
var<private> depth: u32;
var<private> top: Box;
var<private> top_first: u32;
var<private> top_last: u32;
// δ at the left end of the lowest segment.
var<private> left_prefix: i32;
var<private> mesh_here: u32;
var<private> cutoff_here: u32;
var<private> run_here: u32;
var<private> left_over: u32;

fn stack_row(at: u32) -> u32 {
    return 2u * SERIAL_THREADS * at + stack_lane;
}

fn stack_prefix(at: u32) -> i32 {
    return bitcast<i32>(stack[stack_row(at) + SERIAL_THREADS].w);
}

fn leave(b: Box, first: u32, last: u32, prefix: i32) {
    let row = 3u * (run_here * SERIAL_SEGMENTS + left_over);
    segments_out(row, tree_row(b.lower, first));
    segments_out(row + 1u, tree_row(b.upper, last));
    segments_out(row + 2u, vec4u(mesh_here, bitcast<u32>(prefix), 0u, 0u));
    left_over++;
}

// Closes the top segment, at whose right end δ is `prefix`, and joins everything that ends there.
fn close(prefix: i32) {
    loop {
        if depth == 0u || stack_prefix(depth - 1u) <= prefix {
            break;
        }
        depth--;
        let lower_row = stack[stack_row(depth)];
        let lower = bitcast<vec3f>(lower_row.xyz);
        let upper = bitcast<vec3f>(stack[stack_row(depth) + SERIAL_THREADS].xyz);
        let first = lower_row.w;
        var before = left_prefix;
        if depth > 0u {
            before = stack_prefix(depth - 1u);
        }
        let row = NODE_ROWS * select(first, top_last, prefix > before);
        let count = top_last + 1u - first;
        if count > cutoff_here {
            binary_rows(row, tree_row(lower, count));
            binary_rows(row + 1u, tree_row(upper, first));
            binary_rows(row + 2u, tree_row(top.lower, top_first - 1u));
            binary_rows(row + 3u, tree_row(top.upper, mesh_here));
        } else {
            binary_rows(row, vec4u(0u));
        }
        top = Box(min(lower, top.lower), max(upper, top.upper));
        top_first = first;
    }
    if depth == 0u && prefix <= left_prefix {
        // The parent lies to the left, so leave the segment for the next dispatch. A complete mesh has no parent.
        if prefix < left_prefix {
            leave(top, top_first, top_last, prefix);
        }
        left_prefix = prefix;
    } else {
        stack[stack_row(depth)] = tree_row(top.lower, top_first);
        stack[stack_row(depth) + SERIAL_THREADS] = tree_row(top.upper, bitcast<u32>(prefix));
        depth++;
    }
}

// Stores the remaining segments, whose parents lie to the right, for the next dispatch. Segments are adjacent, so each
// ends where the next begins.
fn finish() {
    for (var at = 0u; at < depth; at++) {
        var last = top_last;
        if at + 1u < depth {
            last = stack[stack_row(at + 1u)].w - 1u;
        }
        let lower = stack[stack_row(at)];
        let upper = stack[stack_row(at) + SERIAL_THREADS];
        let b = Box(bitcast<vec3f>(lower.xyz), bitcast<vec3f>(upper.xyz));
        leave(b, lower.w, last, bitcast<i32>(upper.w));
    }
    counts_out(run_here, left_over);
}

// Returns Karras's δ of a leaf and the next one: the length of the common prefix of their codes, or −1 if their meshes
// differ. Equal codes are followed by the leaf indices.
fn neighbours_prefix(leaf: u32, a: Sorted, b: Sorted) -> i32 {
    if a.mesh != b.mesh {
        return -1;
    }
    let difference = a.code ^ b.code;
    if difference.x != 0u {
        return i32(countLeadingZeros(difference.x));
    }
    if difference.y != 0u {
        return 32 + i32(countLeadingZeros(difference.y));
    }
    return 64 + i32(countLeadingZeros(leaf ^ (leaf + 1u)));
}

// Sets δ at the left end of a run that begins at `begin`. `first` is the position of the first triangle or of the first
// mesh, whichever the run consists of.
fn run_begin(begin: u32, first: u32, item: Sorted) {
    left_prefix = -1;
    if begin > first {
        // The leaf only matters within a mesh, whose leaves all have the same shift.
        let leaf = begin - 1u + mesh_span(item.mesh).shift;
        left_prefix = neighbours_prefix(leaf, sorted_item(begin - 1u), item);
    }
}

fn add_leaf(leaf: u32, b: Box, item: Sorted, next: Sorted, is_last: bool) {
    mesh_here = item.mesh;
    top = b;
    top_first = leaf;
    top_last = leaf;
    close(select(neighbours_prefix(leaf, item, next), -1, is_last));
}

@compute @workgroup_size(SERIAL_THREADS)
fn serial_leaves(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    run_here = dispatch_workgroup(workgroup, workgroups) * SERIAL_THREADS + thread;
    stack_lane = thread;
    if run_here >= runs.y {
        return;
    }
    let begin = run_here * SERIAL_RUN;
    let last = params.item_triangles - 1u;
    let end = min(begin + SERIAL_RUN, last + 1u);
    var item = sorted_item(begin);
    cutoff_here = params.leaf_cutoff;
    run_begin(begin, 0u, item);
    for (var k = begin; k < end; k++) {
        // The shift is 0 if all items are built. A loop of at most one iteration is skipped, unlike a branch.
        var shift = 0u;
        for (var all = params.all_items; all == 0u; all++) {
            shift = mesh_span(item.mesh).shift;
        }
        let b = leaf_triangle(k + shift, order(k) + shift);
        let next = sorted_item(min(k + 1u, last));
        add_leaf(k + shift, b, item, next, k == last);
        item = next;
    }
    finish();
}

@compute @workgroup_size(SERIAL_THREADS)
fn serial_meshes(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let run = dispatch_workgroup(workgroup, workgroups) * SERIAL_THREADS + thread;
    stack_lane = thread;
    run_here = runs.y + run;
    if run_here >= runs.x {
        return;
    }
    let begin = params.item_triangles + run * SERIAL_RUN;
    let last = params.item_count - 1u;
    let end = min(begin + SERIAL_RUN, last + 1u);
    var item = sorted_item(begin);
    cutoff_here = 1u;
    run_begin(begin, params.item_triangles, item);
    for (var k = begin; k < end; k++) {
        let mesh = order(k) - params.item_triangles;
        let leaf = k - params.item_triangles + params.triangle_count;
        let b = leaf_mesh(leaf, mesh, tlas[mesh]);
        let next = sorted_item(min(k + 1u, last));
        add_leaf(leaf, b, item, next, k == last);
        item = next;
    }
    finish();
}

@compute @workgroup_size(SERIAL_THREADS)
fn serial_nodes(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    run_here = dispatch_workgroup(workgroup, workgroups) * SERIAL_THREADS + thread;
    stack_lane = thread;
    let begin = run_here * SERIAL_FAN;
    if begin >= runs.x {
        return;
    }
    left_prefix = -1;
    if begin > 0u {
        let count = counts_in(begin - 1u);
        if count > 0u {
            let before = (begin - 1u) * SERIAL_SEGMENTS + count - 1u;
            left_prefix = bitcast<i32>(segments_in(3u * before + 2u).y);
        }
    }
    let end = min(begin + SERIAL_FAN, runs.x);
    for (var run = begin; run < end; run++) {
        let count = counts_in(run);
        for (var i = 0u; i < count; i++) {
            let row = 3u * (run * SERIAL_SEGMENTS + i);
            let a = segments_in(row);
            let b = segments_in(row + 1u);
            let c = segments_in(row + 2u);
            mesh_here = c.x;
            cutoff_here = select(params.leaf_cutoff, 1u, c.x == params.mesh_count);
            top = Box(bitcast<vec3f>(a.xyz), bitcast<vec3f>(b.xyz));
            top_first = a.w;
            top_last = b.w;
            close(bitcast<i32>(c.y));
        }
    }
    finish();
}
