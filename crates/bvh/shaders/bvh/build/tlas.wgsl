// tlas: writes a row per mesh: the offsets of its nodes, vertices and triangles, and its box.
//
// in   meshes, mesh_bounds
// out  tlas[mesh]; a mesh without triangles gets an empty box and the last code; with TLAS_CODES the keys, and with
//      TLAS_RECORDS the codes, of the meshes' items as in morton.wgsl
// The TLAS over the rows is built together with the trees over triangles. A mesh is an item like a triangle. Its code
// is the code of its box centre in the scene's box, with at most 10 bits per axis.
// One thread per mesh.
#import "bvh/dispatch.wgsl"
#import "bvh/geometry.wgsl"
#import "bvh/tree.wgsl"
#import "bvh/build/mesh_bounds.wgsl"
#import "bvh/morton_code.wgsl"

override TLAS_CODES: bool;
override TLAS_RECORDS: bool;

@group(0) @binding(1) var<storage, read> meshes: array<MeshRange>;
@group(0) @binding(2) var<storage, read> mesh_bounds: array<u32>;
#array write 0 3 codes: vec4u
#array write 0 4 keys: u32
@group(0) @binding(5) var<storage, read_write> tlas_out: array<TlasEntry>;

@compute @workgroup_size(256)
fn tlas(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let mesh = dispatch_workgroup(workgroup, workgroups) * 256u + thread;
    if mesh >= params.mesh_count {
        return;
    }
    let range = meshes[mesh];
    let b = mesh_bounds_box(mesh);
    tlas_out[mesh] = TlasEntry(
        max(range.triangle_count, 1u) - 1u,
        range.first_triangle,
        range.first_vertex,
        3u * range.first_triangle,
        b.lower,
        range.first_triangle,
        b.upper,
        range.triangle_count,
    );

    if TLAS_CODES {
        let axis_bits = min(params.axis_bits, 10u);
        var code = vec2u((1u << (3u * axis_bits)) - 1u, 0u);
        if b.lower.x <= b.upper.x {
            let cells = f32(1u << axis_bits);
            let around = mesh_bounds_centroids(params.mesh_count);
            code = morton_code(quantise(0.5 * (b.lower + b.upper), around, cells), false);
        }
        let k = params.item_triangles + mesh;
        keys(k, morton_key(code, params.mesh_count, params.axis_bits));
        if TLAS_RECORDS {
            codes(k, vec4u(code, params.mesh_count, 0u));
        }
    }
}
