// tlas: the offset table, a row per mesh: where its nodes, vertices and triangles lie, and its box.
//
// in   meshes, pyramid
// out  tlas[mesh]; a mesh without triangles gets an empty box
// One thread per mesh.
#import "common/dispatch.wgsl"
#import "common/geometry.wgsl"
#import "common/tree.wgsl"
#import "common/pyramid.wgsl"

@group(0) @binding(4) var<storage, read> meshes: array<MeshRange>;
@group(0) @binding(5) var<storage, read> pyramid: array<f32>;
@group(0) @binding(6) var<storage, read_write> tlas_out: array<TlasEntry>;

@compute @workgroup_size(256)
fn tlas(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let mesh = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if mesh >= params.mesh_count {
        return;
    }
    let range = meshes[mesh];
    var b = box_empty();
    if range.triangle_count > 0u {
        b = pyramid_range(range.first_triangle, range.first_triangle + range.triangle_count - 1u);
    }
    tlas_out[mesh] = TlasEntry(
        max(range.triangle_count, 1u) - 1u,
        range.first_triangle,
        range.first_vertex,
        3u * range.first_triangle,
        b.lower,
        range.first_triangle,
        b.upper,
        range.triangle_count,
    );
}
