// signal_filter: averages a noisy signal over frames and over neighbouring pixels.
//
// signal_accumulate: temporal accumulation
// in   noisy_texture: this frame's signal, two layers of words; reprojection taps; last_signal: the last frame's means;
//      surfaces
// out  signal_out: means over the frames since the pixel's surface became visible
//
// signal_filter: one round of spatial filtering
// in   signal_texture, surfaces
// out  smooth_out: the filtered signal (denoise/signal_smooth.wgsl)
//
// Each kernel uses one thread per pixel. The filter for bounced light is in ambient/bounced_filter.wgsl, and the filter
// for lights in shadow/shadow_filter.wgsl.
#import "denoise/signal_mean.wgsl"

@group(1) @binding(6) var signal_out: texture_storage_2d<rg32uint, write>;

#texels 1 2 signal_texture: rg32uint
#texels 1 3 surfaces: rgba32uint
@group(1) @binding(4) var smooth_out: texture_storage_2d<rg32uint, write>;

fn signal_load(words: vec2u) -> vec4f {
    return signal_unpack(words);
}

fn signal_at(pixel: vec2u) -> vec4f {
    return signal_load(textureLoad(signal_texture, pixel, 0).xy);
}

@compute @workgroup_size(8, 8)
fn signal_accumulate(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if all(pixel < frame.size) {
        textureStore(signal_out, pixel, vec4u(signal_pack(signal_accumulated(pixel)), 0u, 0u));
    }
}

@compute @workgroup_size(8, 8)
fn signal_filter(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, row_offset);
    if all(pixel < frame.size) {
        textureStore(smooth_out, pixel, vec4u(signal_pack(signal_smoothed(pixel)), 0u, 0u));
    }
}
