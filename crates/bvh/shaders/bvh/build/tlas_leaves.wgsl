// tlas_leaves: writes the meshes as leaves of the TLAS, in leaf order.
//
// in   tlas, order
// out  leaf_rows after the last triangle
// One thread per mesh.
#import "bvh/dispatch.wgsl"
#import "bvh/leaf.wgsl"
#import "bvh/sorted.wgsl"

#array write 0 1 leaf_rows: vec4u
@group(0) @binding(2) var<storage, read> tlas: array<TlasEntry>;

@compute @workgroup_size(256)
fn tlas_leaves(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let place = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if place >= params.mesh_count {
        return;
    }
    let mesh = order(params.item_triangles + place) - params.item_triangles;
    leaf_mesh(params.triangle_count + place, mesh, tlas[mesh]);
}
