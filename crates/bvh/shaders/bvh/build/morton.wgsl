// morton: computes a Morton code for each triangle, from the centre of its box, relative to the bounds of its mesh's
// centres (Karras 2012, section 4).
//
// in   positions, indices, triangle_info, items, mesh_bounds (bounds.wgsl)
// out  keys[k]: the key of item k in the first sort; with HAS_RECORDS codes[k]: the code, high word first (the low word
//      is 0 for up to 30 bits), and the mesh
// Codes have `axis_bits` bits per axis: at most 10, or 21 if they are wide. tlas.wgsl computes the codes of meshes. A
// workgroup encodes MORTON_RUN items per thread, and neighbouring threads encode neighbouring items. An axis without
// extent gives 0. A triangle that no tree can hold gets the largest code, and so comes last in its mesh.
#import "bvh/dispatch.wgsl"
#import "bvh/build/items.wgsl"
#import "bvh/morton_code.wgsl"

@group(0) @binding(2) var<storage, read> mesh_bounds: array<u32>;
override HAS_RECORDS: bool;

#array write 0 3 codes: vec4u
#array write 0 4 keys: u32
#import "bvh/build/mesh_bounds.wgsl"

@compute @workgroup_size(MORTON_THREADS)
fn morton(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let first = dispatch_workgroup(workgroup, workgroups) * MORTON_THREADS * MORTON_RUN;
    let end = min(first + MORTON_THREADS * MORTON_RUN, params.item_triangles);
    let wide = params.axis_bits > 10u;
    let cells = f32(1u << params.axis_bits);
    let last_short = vec2u((1u << (3u * min(params.axis_bits, 10u))) - 1u, 0u);
    let last_code = select(last_short, vec2u(0x7fffffffu, 0xffffffffu), wide);
    var mesh_here = 0xffffffffu;
    var around = box_empty();
    for (var k = first + thread; k < end; k += MORTON_THREADS) {
        let triangle = item(k);
        let mesh = geometry_mesh(triangle);
        if mesh != mesh_here {
            mesh_here = mesh;
            around = mesh_bounds_centroids(mesh);
        }
        let b = geometry_box(geometry_triangle(triangle));
        var code = last_code;
        if b.lower.x <= b.upper.x {
            code = morton_code(quantise(0.5 * (b.lower + b.upper), around, cells), wide);
        }
        keys(k, morton_key(code, mesh, params.axis_bits));
        if HAS_RECORDS {
            codes(k, vec4u(code, mesh, 0u));
        }
    }
}
