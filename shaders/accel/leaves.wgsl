// leaves: triangles and meshes in leaf order.
//
// in   positions, indices, triangle_info, tlas, order[k] = what was sorted to position k, codes
// out  leaf_rows and sorted_codes[leaf] for every item's leaf
// One thread per item.
#import "common/dispatch.wgsl"
#import "common/leaf.wgsl"

#array write 0 1 leaf_rows: vec4u
#array write 0 2 sorted_codes: vec2u

@compute @workgroup_size(256)
fn leaves(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let k = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if k >= params.item_count {
        return;
    }
    let leaf = leaf_index(k);
    let code = codes(order(k));
    if code.z < params.triangle_count {
        leaf_triangle(leaf, code);
    } else {
        leaf_mesh(leaf, code);
    }
    sorted_codes(leaf, code.xy);
}
