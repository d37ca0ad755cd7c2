// path: unidirectional path tracer in a single kernel, one path per pixel (Kajiya 1986, "The Rendering Equation"; Veach
// 1997, chapters 9 and 10).
//
// in   the merged scene (group 2), the BVHs (group 1), lights and the environment cube (group 0), the table of
//      path/path_table.wgsl
// out  sample_out: radiance of one path; alpha 1 if it hits a surface
// One thread per pixel of a slice of rows. At each surface the path samples direct light from one light, chosen by its
// unshadowed contribution, from one point of an emissive triangle, and from one direction of the environment. It then
// continues in a direction sampled from the material's lobes. Emission and environment that this direction hits are
// combined with the direct samples by multiple importance sampling with the balance heuristic. Russian roulette starts
// after three surfaces. Surfaces are evaluated by the same functions as in the real-time frame, with texels of mip
// level 0. path_shade.wgsl and its neighbours are the same path tracer as several kernels.
#import "path/path_follow.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> params: PathParams;
@group(3) @binding(2) var<storage, read> table: array<u32>;
@group(3) @binding(3) var sample_out: texture_storage_2d<rgba32float, write>;

@compute @workgroup_size(8, 8)
fn path(
    @builtin(global_invocation_id) id: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let pixel = id.xy + vec2u(0u, row_offset);
    if any(pixel >= frame.size) {
        return;
    }
    path_begin(pixel);
    path_follow(pixel, 0u, PathHit(0u, 0u, vec2f(0.0), 0.0), false);
    textureStore(sample_out, pixel, path_sampled());
}
