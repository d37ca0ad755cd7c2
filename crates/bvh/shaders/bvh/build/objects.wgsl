// objects: converts boxes and balls in a caller's buffer to the triangle corners that the BVH's builder reads.
//
// in   objects: for object_boxes two rows per box, its lower and upper corner; for object_balls one row per ball, its
//      centre and radius
// out  positions: three corners per object. A box has its lower, upper and lower corner. A ball has the lower and upper
//      corner of its bounding box, and its centre. An invalid object, such as a box with its lower corner above its
//      upper one, becomes NaN, which no query finds.
// One thread per object.
#import "bvh/dispatch.wgsl"

// x: number of objects.
@group(0) @binding(0) var<uniform> object_params: vec4u;
@group(0) @binding(1) var<storage, read> objects: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> positions: array<u32>;

const NO_NUMBER = 0x7fc00000u;

fn store(object: u32, corner: u32, position: vec3f, is_valid: bool) {
    let words = select(vec3u(NO_NUMBER), bitcast<vec3u>(position), is_valid);
    let first = 9u * object + 3u * corner;
    positions[first] = words.x;
    positions[first + 1u] = words.y;
    positions[first + 2u] = words.z;
}

@compute @workgroup_size(TRACE_BLOCK)
fn object_boxes(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= min(object_params.x, arrayLength(&objects) / 2u) {
        return;
    }
    let lower = objects[2u * i].xyz;
    let upper = objects[2u * i + 1u].xyz;
    let is_valid = all(lower <= upper);
    store(i, 0u, lower, is_valid);
    store(i, 1u, upper, is_valid);
    store(i, 2u, lower, is_valid);
}

@compute @workgroup_size(TRACE_BLOCK)
fn object_balls(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= min(object_params.x, arrayLength(&objects)) {
        return;
    }
    let ball = objects[i];
    let is_valid = ball.w >= 0.0;
    store(i, 0u, ball.xyz - ball.w, is_valid);
    store(i, 1u, ball.xyz + ball.w, is_valid);
    store(i, 2u, ball.xyz, is_valid);
}
