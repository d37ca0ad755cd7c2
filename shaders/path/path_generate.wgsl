// First and last kernel of the wavefront path tracer (Laine, Karras and Aila 2013, "Megakernels Considered Harmful:
// Wavefront Path Tracing on GPUs"). It advances all paths of a slice of pixel rows from surface to surface. The order
// is path_generate, then for each surface path_trace, path_sort, path_shade and path_shadow, then path_finish. The
// estimator is the same as in path.wgsl, with the same functions in the same order for each path.
//
// path_generate  out  paths at the eye; the list of all paths, and its range
// path_finish    in   finished paths
//                out  sample_out: radiance of one path; alpha 1 if it hits a surface
// One thread per path.
#import "bvh/dispatch.wgsl"
#import "reflections/hit_range.wgsl"
#import "path/path_state.wgsl"
#import "path/path_store.wgsl"
#import "frame/ray_list.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> stage: PathStage;
@group(1) @binding(2) var<uniform> params: PathParams;
@group(1) @binding(3) var<storage, read_write> paths: array<vec4u>;
@group(1) @binding(4) var<storage, read_write> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(1) @binding(5) var list_out: texture_storage_2d<r32uint, write>;
@group(1) @binding(6) var sample_out: texture_storage_2d<rgba32float, write>;

@compute @workgroup_size(RAY_BLOCK)
fn path_generate(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    let count = path_count_of_band();
    if number >= count {
        return;
    }
    if number == 0u {
        ranges[0] = HitRange(dispatch_folded((count + RAY_BLOCK - 1u) / RAY_BLOCK), count, 0u, 0u);
    }
    let pixel = path_pixel(number);
    path_begin(pixel);
    let ended = vec4u(0u, 0u, 0u, bitcast<u32>(PATH_ENDED));
    let way = path_row_of(state.direction, state.sampled_density);
    paths[path_row(ROW_ORIGIN, number)] = path_row_of(state.origin, 0.0);
    paths[path_row(ROW_DIRECTION, number)] = select(ended, way, all(pixel < frame.size));
    paths[path_row(ROW_THROUGHPUT, number)] = path_row_of(state.throughput, 0.0);
    paths[path_row(ROW_RADIANCE, number)] = vec4u(0u);
    textureStore(list_out, ray_list_texel(number), vec4u(number));
}

@compute @workgroup_size(RAY_BLOCK)
fn path_finish(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    let pixel = path_pixel(number);
    if number < path_count_of_band() && all(pixel < frame.size) {
        state.radiance = path_vec3(ROW_RADIANCE, number);
        state.cover = bitcast<f32>(paths[path_row(ROW_THROUGHPUT, number)].w);
        textureStore(sample_out, pixel, path_sampled());
    }
}
