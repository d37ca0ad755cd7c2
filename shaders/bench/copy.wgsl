// copy: a buffer to another, to learn how fast the adapter moves memory.
//
// in   source
// out  destination, as long
// One thread per 16 bytes, neighbours side by side.
#import "bvh/dispatch.wgsl"

@group(0) @binding(0) var<storage, read> source: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4u>;

@compute @workgroup_size(256)
fn copy(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if i < arrayLength(&source) {
        destination[i] = source[i];
    }
}
