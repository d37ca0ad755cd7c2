// hierarchy_join: collapses the binary nodes of hierarchy_serial to nodes of four children.
//
// in   binary_rows, order, code_words (for the leaves of a partial build)
// out  nodes[i] and node_areas[i] for every binary node i; the area −1 for unused slots
// Each thread makes the nodes of JOIN_RUN leaves.
#import "bvh/dispatch.wgsl"
#import "bvh/geometry.wgsl"
#import "bvh/node.wgsl"
#import "bvh/sorted.wgsl"

// True if all items are built. A constant, because llvmpipe executes both sides of a branch that is not known at
// compile time.
override JOIN_ALL: bool;

#array read 0 1 binary_rows: vec4u
#array write 0 2 node_rows: vec4u

// Reads the children of a binary node. A left child has the index of its last leaf, a right child the index of its
// first leaf (Karras 2012, section 3).
fn node_children(whole: Child) -> Pair {
    let row = NODE_ROWS * select(whole.last, whole.first, whole.is_right != 0u);
    let a = binary_rows(row);
    let b = binary_rows(row + 1u);
    let c = binary_rows(row + 2u);
    let d = binary_rows(row + 3u);
    return Pair(
        Child(Box(bitcast<vec3f>(a.xyz), bitcast<vec3f>(b.xyz)), whole.first, c.w, 0u, 0u),
        Child(Box(bitcast<vec3f>(c.xyz), bitcast<vec3f>(d.xyz)), c.w + 1u, whole.last, 1u, 0u),
    );
}

@compute @workgroup_size(SERIAL_THREADS)
fn hierarchy_join(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    var k = (dispatch_workgroup(workgroup, workgroups) * SERIAL_THREADS + thread) * JOIN_RUN;
    let end = min(k + JOIN_RUN, params.item_count);
    loop {
        // Skip to the next binary node. Few leaves have one, and this way the threads of a group make nodes in
        // lockstep.
        var leaf = 0u;
        var count = 0u;
        while k < end && count == 0u {
            leaf = k;
            if !JOIN_ALL {
                leaf += mesh_span(sorted_item(k).mesh).shift;
            }
            count = binary_rows(NODE_ROWS * leaf).w;
            if count == 0u {
                node_area_store(leaf, -1.0);
            }
            k++;
        }
        if count == 0u {
            break;
        }
        let first = binary_rows(NODE_ROWS * leaf + 1u).w;
        let mesh = binary_rows(NODE_ROWS * leaf + 3u).w;
        let last = first + count - 1u;
        node_make(leaf, Child(box_empty(), first, last, u32(leaf == first), 0u), mesh);
    }
}
