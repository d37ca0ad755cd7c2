// path_shade: shades the hits of the paths. A kernel of the wavefront path tracer (path_generate.wgsl).
//
// in   the list of paths and their hits; the merged scene (group 2), lights and the environment cube (group 0), the
//      table of path/path_table.wgsl
// out  the shadow rays of each path, and its continuation ray or its end
// One thread per path of the list. The kernel reads no BVH, which keeps it within the limit on storage buffers.
#import "bvh/dispatch.wgsl"
#import "reflections/hit_range.wgsl"
#import "path/path_interact.wgsl"
#import "path/path_store.wgsl"
#import "frame/ray_list.wgsl"

@group(1) @binding(0) var<uniform> row_offset: u32;
@group(1) @binding(1) var<uniform> stage: PathStage;
@group(1) @binding(2) var<uniform> params: PathParams;
@group(1) @binding(3) var<storage, read_write> paths: array<vec4u>;
@group(1) @binding(4) var<uniform> ranges: array<HitRange, REFLECTION_BINS + 1u>;
@group(1) @binding(5) var list_texture: texture_2d<u32>;
@group(1) @binding(6) var<storage, read> table: array<u32>;

@compute @workgroup_size(RAY_BLOCK)
fn path_shade(
    @builtin(workgroup_id) workgroup: vec3u,
    @builtin(num_workgroups) workgroups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let place = RAY_BLOCK * dispatch_workgroup(workgroup, workgroups) + thread;
    if place >= ranges[0].count {
        return;
    }
    let number = textureLoad(list_texture, ray_list_texel(place), 0).r;
    let pixel = path_pixel(number);
    let found = paths[path_row(ROW_HIT, number)];
    let direction = bitcast<vec4f>(paths[path_row(ROW_DIRECTION, number)]);
    let throughput = bitcast<vec4f>(paths[path_row(ROW_THROUGHPUT, number)]);
    state.direction = direction.xyz;
    state.sampled_density = direction.w;
    state.throughput = throughput.xyz;
    state.cover = throughput.w;
    state.radiance = path_vec3(ROW_RADIANCE, number);
    let direct_origin = bitcast<vec4f>(paths[path_row(ROW_DIRECT_ORIGIN, number)]);
    state.direct_origin = direct_origin.xyz;
    state.is_mirror_like = direct_origin.w > 0.0;
    let origin = bitcast<vec4f>(paths[path_row(ROW_ORIGIN, number)]);
    state.origin = origin.xyz;
    let t = origin.w;
    let hit = PathHit(found.x, found.y, bitcast<vec2f>(found.zw), t);
    let goes_on = path_interact(hit, pixel, stage.bounce, params.bounces);
    var bits = 0u;
    if goes_on {
        for (var ray = RAY_LIGHT; ray <= RAY_EMITTER; ray++) {
            let wanted = direct_sample(ray);
            if path_has_direct(ray) {
                bits |= 1u << ray;
                let kind = PATH_DIRECT_ROW + 2u * (ray - RAY_LIGHT);
                paths[path_row(kind, number)] = path_row_of(wanted.direction, wanted.distance);
                paths[path_row(kind + 1u, number)] = path_row_of(wanted.light, 0.0);
            }
        }
        if state.is_lifted {
            bits |= 1u << RAY_LIFT;
            paths[path_row(ROW_LIFT, number)] = path_row_of(state.lift, 0.0);
        }
        bits |= select(0u, PATH_BELOW, state.is_below);
        let image = select(0.0, 1.0, state.is_mirror_like);
        paths[path_row(ROW_DIRECT_ORIGIN, number)] = path_row_of(state.direct_origin, image);
        paths[path_row(ROW_ORIGIN, number)] = path_row_of(state.origin, 0.0);
    }
    let is_over = !goes_on || !any(state.throughput > vec3f(0.0));
    let ended = vec4u(stage.bounce + 1u, 0u, 0u, bitcast<u32>(PATH_ENDED));
    let way = path_row_of(state.direction, state.sampled_density);
    paths[path_row(ROW_DIRECTION, number)] = select(way, ended, is_over);
    paths[path_row(ROW_THROUGHPUT, number)] = path_row_of(state.throughput, state.cover);
    paths[path_row(ROW_RADIANCE, number)] = path_row_of(state.radiance, bitcast<f32>(bits));
}
