// leaves: triangles and meshes in leaf order.
//
// in   positions, indices, triangle_info, tlas, order[k] = what was sorted to position k, codes
// out  leaf_rows and sorted_codes[place] for every item's place
// One thread per item.
#import "common/dispatch.wgsl"
#import "common/leaf.wgsl"

#array write 0 7 leaf_rows: vec4u
#array write 0 8 sorted_codes: vec2u

@compute @workgroup_size(256)
fn leaves(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let k = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if k >= params.item_count {
        return;
    }
    let place = leaf_place(k);
    let code = codes(order(k));
    if code.z < params.triangle_count {
        leaf_triangle(place, code);
    } else {
        leaf_mesh(place, code);
    }
    sorted_codes(place, code.xy);
}
