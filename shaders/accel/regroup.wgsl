// regroup: the keys of the second sort, which brings each mesh's triangles together again: the mesh's bits that had no room above its code.
//
// in   triangle_info, values (triangles sorted by code and the mesh's two lowest bits)
// out  keys[i] = mesh of values[i], without its two lowest bits
// One thread per triangle.
#import "common/dispatch.wgsl"
#import "common/geometry.wgsl"

@group(0) @binding(4) var<storage, read> values: array<u32>;
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;

@compute @workgroup_size(256)
fn regroup(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let i = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if i < params.triangle_count {
        keys[i] = geometry_mesh(values[i]) >> 2u;
    }
}
