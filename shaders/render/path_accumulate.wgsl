// path_accumulate: adds a sample of each pixel to its sums; path_resolve: their mean.
//
// in   a sample of `path`
// out  sums: three a pixel: of the last samples up to PATH_SUMMED, of as many of those sums, and of all of
//      these. No f32 is added to a sum of more than PATH_SUMMED others, so that days of samples lose nothing
//      hdr_out: the mean; alpha is the share of samples that meet a surface; display_out: the plain
//      background behind them
// One thread per pixel.
#import "common/frame.wgsl"
#import "common/half_float.wgsl"
#import "common/path_table.wgsl"
#import "common/unseen.wgsl"

@group(1) @binding(0) var<uniform> first_row: u32;
@group(1) @binding(1) var<uniform> params: PathParams;
@group(1) @binding(2) var<storage, read_write> sums: array<vec4f>;
@group(1) @binding(3) var sample: texture_2d<f32>;
@group(1) @binding(4) var hdr_out: texture_storage_2d<rgba16float, write>;
@group(1) @binding(5) var display_out: texture_storage_2d<rgba16float, write>;

@compute @workgroup_size(8, 8)
fn path_accumulate(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    let at = 3u * (pixel.y * params.width + pixel.x);
    let index = unseen_zero(f32(pixel.x)) + params.index;
    let is_first = index == 0u;
    var few = select(sums[at], vec4f(0.0), is_first) + textureLoad(sample, pixel, 0);
    var more = select(sums[at + 1u], vec4f(0.0), is_first);
    var most = select(sums[at + 2u], vec4f(0.0), is_first);
    let number = index + 1u;
    if number % PATH_SUMMED == 0u {
        more += few;
        few = vec4f(0.0);
    }
    if number % (PATH_SUMMED * PATH_SUMMED) == 0u {
        most += more;
        more = vec4f(0.0);
    }
    sums[at] = few;
    sums[at + 1u] = more;
    sums[at + 2u] = most;
}

@compute @workgroup_size(8, 8)
fn path_resolve(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    let at = 3u * (pixel.y * params.width + pixel.x);
    let mean = (sums[at] + sums[at + 1u] + sums[at + 2u]) / f32(params.count);
    let seen = vec4f(min(mean.rgb, vec3f(RADIANCE_MAX)), saturate(mean.a));
    textureStore(hdr_out, pixel, half_float_round(seen));
    let behind = select(frame.background, vec3f(0.0), frame.shows_environment != 0u);
    textureStore(display_out, pixel, half_float_round(vec4f((1.0 - seen.a) * behind, 0.0)));
}
