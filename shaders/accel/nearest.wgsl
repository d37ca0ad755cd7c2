// nearest: for each point of a list, the nearest point of the tree's triangles.
//
// in   points: the point, and how far to look; the tree (group 1)
// out  found, one per point
// One thread per point.
#import "common/bvh_nearest.wgsl"
#import "common/dispatch.wgsl"

// The number of points; leaf_cutoff.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> points: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> found: array<Nearest>;

@compute @workgroup_size(TRACE_BLOCK)
fn nearest(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    // Buffers are the caller's: nothing is read or written past their ends.
    if i < min(query.x, min(arrayLength(&points), arrayLength(&found))) {
        found[i] = bvh_nearest(points[i].xyz, points[i].w, query.y);
    }
}
