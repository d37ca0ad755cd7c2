// path_shadow: traces one kind of shadow ray. A kernel of the wavefront path tracer (path_generate.wgsl).
//
// in   the list of paths and their direct light samples; the BVHs (group 1)
// out  radiance, with the unoccluded light added
// One thread per path of the list.
#import "bvh/dispatch.wgsl"
#import "reflections/hit_range.wgsl"
#import "path/path_rays.wgsl"
#import "path/path_store.wgsl"
#import "frame/ray_list.wgsl"

@group(3) @binding(0) var<uniform> row_offset: u32;
@group(3) @binding(1) var<uniform> stage: PathStage;
@group(3) @binding(2) var<uniform> params: PathParams;
@group(3) @binding(3) var<storage, read_write> paths: array<vec4u>;
@group(3) @binding(4) var<uniform> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(3) @binding(5) var list_texture: texture_2d<u32>;

@compute @workgroup_size(RAY_BLOCK)
fn path_shadow(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    bvh_ray_begin(thread);
    let place = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    if place >= ranges[0].count {
        return;
    }
    let number = textureLoad(list_texture, ray_list_texel(place), 0).r;
    let pixel = path_pixel(number);
    let which = stage.ray;
    let found = paths[path_row(ROW_RADIANCE, number)];
    let bits = found.w;
    if (bits & (1u << which)) == 0u {
        return;
    }
    let kind = PATH_DIRECT_ROW + 2u * (which - RAY_LIGHT);
    let way = bitcast<vec4f>(paths[path_row(kind, number)]);
    // The kernel needs no other sample.
    let sample = DirectSample(way.xyz, way.w, path_vec3(kind + 1u, number), 0.0);
    direct_samples = array<DirectSample, PATH_DIRECT>(sample, sample, sample);
    state.radiance = bitcast<vec3f>(found.xyz);
    state.direct_origin = path_vec3(ROW_DIRECT_ORIGIN, number);
    state.is_below = (bits & PATH_BELOW) != 0u;
    var ray = which;
    if which == RAY_LIGHT && (bits & (1u << RAY_LIFT)) != 0u {
        ray = RAY_LIFT;
        state.lift = path_vec3(ROW_LIFT, number);
    }
    var is_lifted = false;
    for (var step = 0u; step < 2u; step++) {
        let is_hit = path_trace_ray(path_direct_ray(ray, is_lifted), ray, pixel, stage.bounce + 1u).leaf != BVH_MISS;
        if ray != RAY_LIFT {
            if !is_hit {
                path_add_direct(ray, stage.bounce);
            }
            break;
        }
        is_lifted = path_lifts(is_hit);
        ray = RAY_LIGHT;
        if !path_has_direct(ray) {
            break;
        }
    }
    paths[path_row(ROW_RADIANCE, number)] = path_row_of(state.radiance, bitcast<f32>(bits));
}
