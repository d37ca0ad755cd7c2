// copy: copies a buffer, to measure the adapter's memory bandwidth.
//
// in   source
// out  destination, of the same length
// One thread per 16 bytes, with neighbouring threads on neighbouring elements.
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
