// signal_filter: averages a sampled signal over frames and over neighbouring pixels.
//
// signal_accumulate
// in   fresh: this frame's signal, two layers of words; taps of the last frame; last_signal: its means;
//      surfaces
// out  signal_out: means over the frames since the pixel's surface became visible
//
// signal_filter
// in   signal_texture, surfaces
// out  smooth_out: a round of the filter (common/signal_smooth.wgsl)
//
// One thread per pixel in both of them. Those of lights are in render/shadow_filter.wgsl.
#import "common/signal_smooth.wgsl"
#import "common/signal_taps.wgsl"

@group(1) @binding(0) var<uniform> first_row: u32;
@group(1) @binding(1) var<uniform> params: SignalParams;
@group(1) @binding(2) var fresh_texture: texture_2d_array<u32>;
@group(1) @binding(3) var taps_texture: texture_2d<u32>;
@group(1) @binding(4) var last_signal: texture_2d<u32>;
@group(1) @binding(5) var frame_surfaces: texture_2d<u32>;
@group(1) @binding(6) var signal_out: texture_storage_2d<rg32uint, write>;

@group(1) @binding(2) var signal_texture: texture_2d<u32>;
@group(1) @binding(3) var surfaces: texture_2d<u32>;
@group(1) @binding(4) var smooth_out: texture_storage_2d<rg32uint, write>;

fn signal_at(pixel: vec2u) -> vec4f {
    return signal_unpack(textureLoad(signal_texture, pixel, 0).xy);
}

@compute @workgroup_size(8, 8)
fn signal_accumulate(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if any(pixel >= frame.size) {
        return;
    }
    let first = textureLoad(fresh_texture, pixel, params.layer, 0).r;
    let fresh = signal_unpack(signal_sent(vec2u(first, textureLoad(fresh_texture, pixel, params.layer + 1u, 0).r)));
    let taps = signal_taps_unpack(textureLoad(taps_texture, pixel, 0).xy);
    var history = vec4f(0.0);
    for (var i = 0u; i < 4u; i++) {
        let tap = clamp(taps.corner + vec2i(vec2u(i & 1u, i >> 1u)), vec2i(0), vec2i(frame.size) - 1);
        history += taps.weights[i] * signal_unpack(textureLoad(last_signal, tap, 0).xy);
    }
    let frames = signal_surface_unpack(textureLoad(frame_surfaces, pixel, 0)).frames;
    let known = dot(taps.weights, vec4f(1.0)) > 0.5 && frames > 0u;
    let gain = select(1.0, 1.0 / f32(min(max(frames, 1u) - 1u, params.remembered) + 1u), known);
    let mean = select(vec4f(0.0), mix(history, fresh, gain), frames > 0u);
    textureStore(signal_out, pixel, vec4u(signal_pack(mean), 0u, 0u));
}

@compute @workgroup_size(8, 8)
fn signal_filter(@builtin(global_invocation_id) id: vec3u) {
    let pixel = id.xy + vec2u(0u, first_row);
    if all(pixel < frame.size) {
        textureStore(smooth_out, pixel, vec4u(signal_pack(signal_smoothed(pixel)), 0u, 0u));
    }
}
