// bounced_filter: averages bounced light over frames and over neighbouring pixels.
//
// bounced_accumulate, bounced_smooth: same as signal_accumulate and signal_filter of denoise/signal_filter.wgsl, with
// colours (math/rgb16.wgsl)
//
// bounced_filter: the last round of spatial filtering
// in   signal_texture, surfaces
// out  occlusion_words: the filtered light, in the second word of each pixel
#import "math/color.wgsl"
#import "math/rgb16.wgsl"
#import "math/rgb9e5.wgsl"
#import "denoise/signal_mean.wgsl"

@group(1) @binding(6) var signal_out: texture_storage_2d<rg32uint, write>;

#texels 1 2 signal_texture: rg32uint
#texels 1 3 surfaces: rgba32uint
@group(1) @binding(4) var smooth_out: texture_storage_2d<rg32uint, write>;
@group(1) @binding(4) var<storage, read_write> occlusion_words: array<vec2u>;

fn signal_load(words: vec2u) -> vec4f {
    return vec4f(rgb16_unpack(words), 0.0);
}

fn signal_at(pixel: vec2u) -> vec4f {
    let found = signal_load(textureLoad(signal_texture, pixel, 0).xy);
    return vec4f(compressed(found.rgb, params.compression), 0.0);
}

fn smoothed(pixel: vec2u) -> vec3f {
    return expanded(signal_smoothed(pixel).rgb, params.compression);
}

@compute @workgroup_size(8, 8)
fn bounced_accumulate(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if all(pixel < frame.size) {
        textureStore(signal_out, pixel, vec4u(rgb16_pack(signal_accumulated(pixel).rgb, 0u), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn bounced_smooth(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if all(pixel < frame.size) {
        textureStore(smooth_out, pixel, vec4u(rgb16_pack(smoothed(pixel), 0u), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn bounced_filter(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if all(pixel < frame.size) {
        occlusion_words[pixel.y * frame.size.x + pixel.x].y = rgb9e5_pack(smoothed(pixel));
    }
}
