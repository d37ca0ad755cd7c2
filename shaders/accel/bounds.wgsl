// bounds: the box around the centroids of each mesh's triangles.
//
// in   positions, indices, triangle_info
// out  mesh_bounds: six words a mesh, three for the lower corner (complemented) and three for the upper, as ordered integers, cleared
//      to 0 before: 0 is the identity of both, because both are reduced by max
// One thread per triangle. A workgroup reduces the triangles of its first mesh in shared memory and adds them with one thread;
// triangles of further meshes add themselves. Threads of different workgroups meet only in atomicMax, whose result no order changes;
// the next dispatch reads it.
#import "common/dispatch.wgsl"
#import "common/geometry.wgsl"

@group(0) @binding(4) var<storage, read_write> mesh_bounds: array<atomic<u32>>;

var<workgroup> shared_lower: array<vec3f, 256>;
var<workgroup> shared_upper: array<vec3f, 256>;

// Monotonic from floats to integers, above 0 for every finite float.
fn ordered(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    return select(bits | 0x80000000u, ~bits, (bits & 0x80000000u) != 0u);
}

fn add(mesh: u32, b: Box) {
    let at = 6u * mesh;
    for (var axis = 0u; axis < 3u; axis++) {
        atomicMax(&mesh_bounds[at + axis], ~ordered(b.lower[axis]));
        atomicMax(&mesh_bounds[at + 3u + axis], ordered(b.upper[axis]));
    }
}

@compute @workgroup_size(256)
fn bounds(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let first = dispatch_workgroup(workgroup, workgroups) * 256u;
    let triangle = first + thread;
    let first_mesh = geometry_mesh(min(first, params.triangle_count - 1u));
    var centroid = box_empty();
    var mesh = first_mesh;
    if triangle < params.triangle_count {
        mesh = geometry_mesh(triangle);
        let b = geometry_box(geometry_triangle(triangle));
        if b.lower.x <= b.upper.x {
            let center = 0.5 * (b.lower + b.upper);
            centroid = Box(center, center);
        }
    }
    if mesh != first_mesh {
        if centroid.lower.x <= centroid.upper.x {
            add(mesh, centroid);
        }
        centroid = box_empty();
    }
    shared_lower[thread] = centroid.lower;
    shared_upper[thread] = centroid.upper;
    for (var half = 128u; half > 0u; half >>= 1u) {
        workgroupBarrier();
        if thread < half {
            shared_lower[thread] = min(shared_lower[thread], shared_lower[thread + half]);
            shared_upper[thread] = max(shared_upper[thread], shared_upper[thread + half]);
        }
    }
    if thread == 0u && shared_lower[0].x <= shared_upper[0].x {
        add(first_mesh, Box(shared_lower[0], shared_upper[0]));
    }
}
