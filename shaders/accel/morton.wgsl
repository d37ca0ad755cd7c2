// morton: a 30-bit Morton code for each triangle (Karras 2012, section 4), 10 bits an axis, of its centroid in its mesh's bounds.
//
// in   positions, indices, triangle_info, mesh_bounds (bounds.wgsl)
// out  codes[triangle]; keys[triangle] = code and the mesh's two lowest bits above it; values[triangle] = triangle
// One thread per triangle. An axis without extent gives 0; a triangle that no tree can hold gets the last code.
#import "common/dispatch.wgsl"
#import "common/geometry.wgsl"

@group(0) @binding(4) var<storage, read> mesh_bounds: array<u32>;
@group(0) @binding(5) var<storage, read_write> codes: array<u32>;
@group(0) @binding(6) var<storage, read_write> keys: array<u32>;
@group(0) @binding(7) var<storage, read_write> values: array<u32>;

// Undoes `ordered` of bounds.wgsl.
fn from_ordered(x: u32) -> f32 {
    return bitcast<f32>(select(~x, x & 0x7fffffffu, (x & 0x80000000u) != 0u));
}

// Puts two zero bits between the ten lowest ones.
fn spread(x: u32) -> u32 {
    var v = x;
    v = (v | (v << 16u)) & 0x030000ffu;
    v = (v | (v << 8u)) & 0x0300f00fu;
    v = (v | (v << 4u)) & 0x030c30c3u;
    return (v | (v << 2u)) & 0x09249249u;
}

fn quantise(x: f32, lower: f32, upper: f32) -> u32 {
    let extent = upper - lower;
    if extent < 1.0e-30 {
        return 0u;
    }
    return min(u32((x - lower) * (1024.0 / extent)), 1023u);
}

@compute @workgroup_size(256)
fn morton(@builtin(workgroup_id) workgroup: vec3u, @builtin(num_workgroups) workgroups: vec3u, @builtin(local_invocation_index) thread: u32) {
    let triangle = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if triangle >= params.triangle_count {
        return;
    }
    let mesh = geometry_mesh(triangle);
    let b = geometry_box(geometry_triangle(triangle));
    var code = 0x3fffffffu;
    if b.lower.x <= b.upper.x {
        let center = 0.5 * (b.lower + b.upper);
        code = 0u;
        for (var axis = 0u; axis < 3u; axis++) {
            let lower = from_ordered(~mesh_bounds[6u * mesh + axis]);
            let upper = from_ordered(mesh_bounds[6u * mesh + 3u + axis]);
            code |= spread(quantise(center[axis], lower, upper)) << (2u - axis);
        }
    }
    codes[triangle] = code;
    keys[triangle] = code | ((mesh & 3u) << 30u);
    values[triangle] = triangle;
}
