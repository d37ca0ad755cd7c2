// ploc_nodes: collapses the binary trees of ploc.wgsl to nodes of four children.
//
// in   ploc_rows and words of `scratch` (bvh/build/ploc_links.wgsl), leaf_rows, code_words
// out  nodes[i] and its area for every binary node i with more leaves than the cutoff; the area −1 for all other nodes
// One thread per item, for the binary node with that slot, if there is one.
#import "bvh/dispatch.wgsl"
#import "bvh/geometry.wgsl"
#import "bvh/node.wgsl"
#import "bvh/build/ploc_links.wgsl"

@group(0) @binding(1) var<storage, read_write> ploc_rows: array<vec4u>;
#array read 0 2 leaf_rows: vec4u
#array write 0 3 node_rows: vec4u

fn child_of(slot: u32, first: u32, last: u32, is_right: u32) -> Child {
    var bounds: Box;
    if first == last {
        let row = TRIANGLE_ROWS * first;
        bounds = leaf_box(leaf_rows(row), leaf_rows(row + 1u), leaf_rows(row + 2u));
    } else {
        let lower = bitcast<vec3f>(ploc_rows[2u * slot].xyz);
        bounds = Box(lower, bitcast<vec3f>(ploc_rows[2u * slot + 1u].xyz));
    }
    return Child(bounds, first, last, is_right, slot);
}

fn node_children(whole: Child) -> Pair {
    let middle = ploc_leaf(whole.slot);
    let left = ploc_rows[2u * whole.slot].w;
    let right = ploc_rows[2u * whole.slot + 1u].w;
    return Pair(child_of(left, whole.first, middle - 1u, 0u), child_of(right, middle, whole.last, 1u));
}

@compute @workgroup_size(256)
fn ploc_nodes(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let k = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if k >= params.item_count {
        return;
    }
    let mesh = sorted_item(k).mesh;
    let word = params.count_word + 2u * k;
    let counted = scratch[word];
    if counted == PLOC_NONE {
        // A mesh has one node less than leaves. No node has the index of the last leaf.
        let span = mesh_span(mesh);
        node_area_store(span.first + span.count - 1u + span.shift, -1.0);
        return;
    }
    let is_right = counted >> 31u;
    let count = counted & ~PLOC_RIGHT;
    let first = ploc_leaf(k) - scratch[word + 1u];
    let last = first + count - 1u;
    let index = select(last, first, is_right != 0u);
    if count <= node_cutoff(mesh) {
        node_area_store(index, -1.0);
    } else {
        node_make(index, Child(box_empty(), first, last, is_right, k), mesh);
    }
}
