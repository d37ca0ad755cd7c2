// ploc_leaves: writes leaves in the order of the trees that ploc.wgsl made.
//
// in   positions, indices, triangle_info, order, code_words, tlas; links (bvh/build/ploc_links.wgsl)
// out  leaf_rows; the link of each position: PLOC_DONE and its leaf
// One thread per item, which follows the item's cluster from level to level.
#import "bvh/dispatch.wgsl"
#import "bvh/leaf.wgsl"
#import "bvh/build/ploc_links.wgsl"

#array write 0 1 leaf_rows: vec4u
@group(0) @binding(2) var<storage, read> tlas: array<TlasEntry>;

@compute @workgroup_size(256)
fn ploc_leaves(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let k = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if k >= params.item_count {
        return;
    }
    var slot = k;
    var leaf = 0u;
    while slot != PLOC_DONE {
        let word = params.link_word + 2u * slot;
        slot = scratch[word];
        leaf += scratch[word + 1u];
    }
    ploc_link(k, PLOC_DONE, leaf);
    let mesh = sorted_item(k).mesh;
    if mesh < params.mesh_count {
        leaf_triangle(leaf, order(k) + mesh_span(mesh).shift);
    } else {
        let row = order(k) - params.item_triangles;
        leaf_mesh(leaf, row, tlas[row]);
    }
}
