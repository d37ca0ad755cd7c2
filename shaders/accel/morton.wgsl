// morton: a Morton code for each triangle (Karras 2012, section 4), of its centroid in its mesh's bounds:
// `axis_bits` an axis, 10 or fewer, or 21. Meshes get theirs in tlas.wgsl.
//
// in   positions, indices, triangle_info, items, mesh_bounds (bounds.wgsl) out  codes[k]: the code of item k,
// high word first (up to 30 bits: the low word is 0), the item, and its mesh
//      with ANY_HIT_TEST; keys[k]: the key of the first sort
// A thread encodes a run of MORTON_RUN items, mesh by mesh. An axis without extent gives 0; a triangle that
// no tree can hold gets the last code.
#import "common/dispatch.wgsl"
#import "common/items.wgsl"
#import "common/morton.wgsl"

@group(0) @binding(2) var<storage, read> mesh_bounds: array<u32>;
#array write 0 3 codes: vec4u
#array write 0 4 keys: u32
#import "common/mesh_bounds.wgsl"

@compute @workgroup_size(MORTON_THREADS)
fn morton(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    var k = (dispatch_workgroup(workgroup, workgroups) * MORTON_THREADS + thread) * MORTON_RUN;
    let end = min(k + MORTON_RUN, params.item_triangles);
    if k >= end {
        return;
    }
    let wide = params.axis_bits > 10u;
    let cells = f32(1u << params.axis_bits);
    let last_short = vec2u((1u << (3u * min(params.axis_bits, 10u))) - 1u, 0u);
    let last_code = select(last_short, vec2u(0x7fffffffu, 0xffffffffu), wide);
    var triangle = item(k);
    var mesh_word = triangle_info(triangle).x;
    loop {
        let mesh = mesh_word & ~ANY_HIT_TEST;
        let around = mesh_bounds_centroids(mesh);
        loop {
            let b = geometry_box(geometry_triangle(triangle));
            var code = last_code;
            if b.lower.x <= b.upper.x {
                code = morton_code(quantise(0.5 * (b.lower + b.upper), around, cells), wide);
            }
            codes(k, vec4u(code, triangle, mesh_word));
            keys(k, morton_key(code, mesh, params.axis_bits));
            k++;
            triangle = item(min(k, end - 1u));
            mesh_word = triangle_info(triangle).x;
            if k == end || (mesh_word & ~ANY_HIT_TEST) != mesh {
                break;
            }
        }
        if k == end {
            break;
        }
    }
}
