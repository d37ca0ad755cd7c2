// winding: computes winding numbers of points with respect to all triangles of the BVH (Jacobson et al. 2013).
//
// in   points; moments (bvh/build/moments.wgsl); the BVH (group 1)
// out  winding: winding_numbers, a number for each point
//      winding_sign: found (bvh/query/nearest.wgsl), whose distance becomes negative where the number is above 0.5
// The number is 1 inside a closed surface whose front faces (counterclockwise vertices) point outwards, 0 outside, and
// in between near holes.
// One thread per point.
#import "bvh/bvh_winding.wgsl"
#import "bvh/dispatch.wgsl"

struct Nearest {
    position: vec3f,
    distance: f32,
    barycentric: vec2f,
    mesh: u32,
    triangle: u32,
}

// Number of points; leaf_cutoff; offset of the node moments, in pairs of rows.
@group(0) @binding(0) var<uniform> query: vec4u;
@group(0) @binding(1) var<storage, read> points: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> winding_numbers: array<f32>;
@group(0) @binding(3) var<storage, read> moments: array<vec4f>;

@group(0) @binding(2) var<storage, read_write> found: array<Nearest>;

@compute @workgroup_size(TRACE_BLOCK)
fn winding(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i < min(query.x, min(arrayLength(&points), arrayLength(&winding_numbers))) {
        winding_numbers[i] = bvh_winding_number(points[i].xyz, query.y, query.z);
    }
}

@compute @workgroup_size(TRACE_BLOCK)
fn winding_sign(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let i = dispatch_workgroup(workgroup, workgroups) * TRACE_BLOCK + thread;
    if i >= min(query.x, min(arrayLength(&points), arrayLength(&found))) {
        return;
    }
    if found[i].mesh != BVH_MISS && bvh_winding_number(points[i].xyz, query.y, query.z) > 0.5 {
        found[i].distance = -found[i].distance;
    }
}
