// leaves: the triangles in leaf order, with their boxes as the lowest level of the pyramid.
//
// in   positions, indices, triangle_info, order[i] = triangle at place i, codes[triangle]
// out  triangles[i], sorted_codes[i], pyramid[i] for every place i; a triangle that no tree can hold becomes a point past all others, with an empty box
// One thread per place.
#import "common/dispatch.wgsl"
#import "common/geometry.wgsl"
#import "common/tree.wgsl"
#import "common/pyramid_store.wgsl"

@group(0) @binding(4) var<storage, read> order: array<u32>;
@group(0) @binding(5) var<storage, read> codes: array<u32>;
@group(0) @binding(6) var<storage, read_write> pyramid: array<f32>;
@group(0) @binding(7) var<storage, read_write> triangles: array<LeafTriangle>;
@group(0) @binding(8) var<storage, read_write> sorted_codes: array<u32>;

@compute @workgroup_size(256)
fn leaves(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let i = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if i >= params.triangle_count {
        return;
    }
    let triangle = order[i];
    var t = geometry_triangle(triangle);
    let b = geometry_box(t);
    if b.lower.x > b.upper.x {
        t = Corners(vec3f(BOX_FAR), vec3f(BOX_FAR), vec3f(BOX_FAR));
    }
    let info = triangle_info[triangle];
    triangles[i] = LeafTriangle(t.v0, triangle, t.v1, info.y, t.v2, info.x);
    sorted_codes[i] = codes[triangle];
    pyramid_store(0u, i, b);
}
